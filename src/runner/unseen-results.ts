import type { SessionId } from '../base/ids.ts';
import type { MessagesRequest } from '../bridge/parse-messages-request.ts';
import { findAction, listActions } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { listRuns } from '../ledger/runs.ts';
import { listSubsessions } from '../ledger/subsessions.ts';
import { listTurns, type TurnMessage } from '../ledger/turns.ts';

/** The latest ones matter: what a model has to know is where it stands. */
const MAX_RESULTS = 20;

/**
 * Results that the saved conversation has lost. Claude Code writes its conversation a moment after the fact, so when
 * it is killed the last calls may be missing from it, although they were carried out. They are shown from the ledger
 * in the first turn after such an end, so that nothing is done again for want of knowing.
 */
export function listUnseenResults(
  database: LedgerDatabase,
  session: SessionId,
  request: MessagesRequest,
): TurnMessage[] {
  const interrupted = listRuns(database, session).at(-2);
  if (interrupted?.state !== 'failed') return [];
  const known = new Set(
    Array.from({ length: request.messageCount }, (_, index) => request.message(index)).flatMap(
      (message) =>
        message.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
    ),
  );
  const turns = new Set(
    listTurns(database, session)
      .filter((turn) => turn.runId === interrupted.id)
      .map((turn) => turn.id),
  );
  const lost = listActions(database, session).filter(
    (action) =>
      action.subsessionId === null && turns.has(action.turnId) && !known.has(action.toolUseId),
  );
  const results = lost.slice(-MAX_RESULTS).map(
    (action): TurnMessage => ({
      kind: 'tool_result',
      tool: action.tool,
      call_id: action.toolUseId,
      is_error: action.receipt?.is_error ?? true,
      text:
        action.receipt?.text ??
        'It is not known whether this call was carried out; a person has to look at the file.',
      truncated: action.receipt?.truncated ?? false,
    }),
  );
  return [...results, ...listLostSubagents(database, session, turns)];
}

/** A subagent that ended with its session did so unseen: the conversation only knows that it was started. */
function listLostSubagents(
  database: LedgerDatabase,
  session: SessionId,
  turns: ReadonlySet<string>,
): TurnMessage[] {
  return listSubsessions(database, session, MAX_RESULTS).flatMap(
    ({ id, actionId, state, outcome }): TurnMessage[] => {
      const turn = findAction(database, actionId)?.turnId;
      if (turn === undefined || !turns.has(turn)) return [];
      if (outcome?.code !== 'session_ended' && outcome?.code !== 'runner_lost') return [];
      const text = `The subagent ${id} is ${state} (${outcome.code}): ${outcome.message} deepseek_subagent_get shows what it did.`;
      return [{ kind: 'notice', text }];
    },
  );
}
