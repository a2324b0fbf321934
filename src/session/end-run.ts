import type { JsonObject } from '../base/canonical-json.ts';
import type { SessionId } from '../base/ids.ts';
import { truncateText } from '../base/truncate-text.ts';
import { endAction, listOpenActions } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent, type EventKind } from '../ledger/events.ts';
import { findLatestRun, moveRun } from '../ledger/runs.ts';
import { setSessionNote } from '../ledger/sessions.ts';
import { findLatestTurn, moveTurn } from '../ledger/turns.ts';

/** As much of a final text as a state carries; the whole of it is in the timeline. */
const MAX_RESULT_TEXT_BYTES = 16 * 1024;

export interface RunEnd {
  readonly isError: boolean;
  readonly text: string;
}

/**
 * Closes whatever of the current run is still open: the run itself, a turn whose asker is gone, and calls that were
 * authorised and never carried out. Call it inside the transaction that moves the session. A `prepared` action is
 * left alone, because only its file can tell whether it happened.
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
  for (const action of listOpenActions(database, session)) {
    if (action.state !== 'authorized') continue;
    const receipt = {
      text: 'This call was authorised and not carried out, because the run ended first.',
      is_error: true,
      truncated: false,
      code: 'not_authorized',
    };
    endAction(database, action, 'refused', receipt, at);
    appendEvent(
      database,
      session,
      'action_refused',
      { action_id: action.id, tool: action.tool, code: receipt.code },
      at,
    );
  }
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
