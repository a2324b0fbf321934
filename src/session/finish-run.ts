import type { SessionId } from '../base/ids.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { findSession, moveSession } from '../ledger/sessions.ts';
import { SESSION_TABLE } from '../machine/session-machine.ts';
import { endRun, type RunEnd } from './end-run.ts';

/**
 * Claude Code has reported the result of the current prompt. A success that is reported while a turn is still pending
 * is none: the client was never heard.
 */
export function finishRun(
  database: LedgerDatabase,
  session: SessionId,
  end: RunEnd,
  now: Date,
): void {
  database.transaction(() => {
    const status = findSession(database, session)?.status;
    if (status === undefined) return;
    const event =
      !end.isError && SESSION_TABLE[status].run_completed !== undefined
        ? 'run_completed'
        : 'run_failed';
    if (SESSION_TABLE[status][event] === undefined) return;
    endRun(
      database,
      session,
      { isError: event === 'run_failed', text: end.text },
      now.toISOString(),
    );
    moveSession(database, session, event);
  });
}
