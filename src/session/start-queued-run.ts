import type { SessionId } from '../base/ids.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import { findLatestRun, moveRun, type RunRecord } from '../ledger/runs.ts';

/**
 * Takes up the queued prompt, if there is one. Durable before the prompt is handed to Claude Code: a prompt is handed
 * over at most once.
 */
export function startQueuedRun(
  database: LedgerDatabase,
  session: SessionId,
  now: Date,
): RunRecord | undefined {
  const at = now.toISOString();
  return database.transaction(() => {
    const run = findLatestRun(database, session);
    if (run?.state !== 'queued') return undefined;
    moveRun(database, run, 'started', at);
    appendEvent(database, session, 'run_started', { run_id: run.id }, at);
    return run;
  });
}
