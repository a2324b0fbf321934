import type { SessionId } from '../base/ids.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import { type RunnerRecord, setFullContextDue, setSessionRunner } from '../ledger/sessions.ts';
import { requireSession } from './require-session.ts';

/**
 * Makes `runner` the session's only writer. Returns false when the session is not waiting for one, or when another
 * runner has it and `isAlive` says that it still runs: then this one has to leave without a trace.
 */
export function claimSession(
  database: LedgerDatabase,
  session: SessionId,
  runner: RunnerRecord,
  isAlive: (other: RunnerRecord) => boolean,
  now: Date,
): boolean {
  return database.transaction(() => {
    const current = requireSession(database, session);
    if (current.status !== 'starting') return false;
    if (current.runner !== null && isAlive(current.runner)) return false;
    setSessionRunner(database, session, runner);
    // A conversation that is resumed is shown what it was started with.
    setFullContextDue(database, session, true);
    appendEvent(database, session, 'runner_attached', {}, now.toISOString());
    return true;
  });
}
