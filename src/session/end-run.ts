import type { JsonObject } from '../base/canonical-json.ts';
import type { SessionId } from '../base/ids.ts';
import { truncateText } from '../base/truncate-text.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent, type EventKind } from '../ledger/events.ts';
import { findLatestRun, moveRun } from '../ledger/runs.ts';
import { setSessionNote } from '../ledger/sessions.ts';
import { findLatestTurn, moveTurn } from '../ledger/turns.ts';
import { loseSubagent } from './end-subagent.ts';
import { refuseOpenActions } from './refuse-open-actions.ts';

/** As much of a final text as a state carries; the whole of it is in the timeline. */
const MAX_RESULT_TEXT_BYTES = 16 * 1024;

export interface RunEnd {
  readonly isError: boolean;
  readonly text: string;
}

/**
 * Closes whatever of the current run is still open: the run itself, a turn whose asker is gone, a subagent whose runner
 * is gone (a runner that lives ends its subagent before), and calls that were authorised and never carried out. Call it
 * inside the transaction that moves the session.
 */
export function endRun(
  database: LedgerDatabase,
  session: SessionId,
  end: RunEnd,
  at: string,
): void {
  const turn = findLatestTurn(database, session);
  if (turn?.state === 'pending') {
    moveTurn(database, turn, 'asker_gone');
    appendEvent(database, session, 'turn_abandoned', { turn_id: turn.id }, at);
  }
  if (turn?.state === 'answered') moveTurn(database, turn, 'delivered');
  loseSubagent(database, session, at);
  refuseOpenActions(
    database,
    session,
    'everybody',
    'This call was authorised and not carried out, because the run ended first.',
    at,
  );
  const run = findLatestRun(database, session);
  if (run === undefined || (run.state !== 'active' && run.state !== 'queued')) return;
  const failed = end.isError || run.state === 'queued';
  moveRun(database, run, failed ? 'failed' : 'completed', at);
  const text = truncateText(end.text, MAX_RESULT_TEXT_BYTES);
  setSessionNote(database, session, 'last_result', {
    run_id: run.id,
    is_error: failed,
    text,
    truncated: text.length < end.text.length,
  });
  const kind: EventKind = failed ? 'run_failed' : 'run_completed';
  const data: JsonObject = { run_id: run.id, text: end.text };
  appendEvent(database, session, kind, data, at);
}
