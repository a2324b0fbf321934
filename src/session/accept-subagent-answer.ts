import type { ActionId, SessionId, SubsessionId } from '../base/ids.ts';
import { sha256 } from '../base/sha256.ts';
import { truncateText } from '../base/truncate-text.ts';
import { findAction, insertActions, type NewAction } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import { addSubsessionTurn, findSubsession } from '../ledger/subsessions.ts';

/** A name that is none can be as long as an answer. Characters. */
const MAX_NAME_LENGTH = 100;

/** As much of an answer's text as the timeline keeps, in bytes; the files that it led to are kept whole. */
const MAX_TEXT_BYTES = 16 * 1024;

export interface SubagentAnswer {
  readonly text: string;
  readonly actions: readonly NewAction[];
  /** Names that it called and that there is no tool of. Nothing came of those calls. */
  readonly unknownTools: readonly string[];
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * Stores an answer of a subagent's model with one `authorized` action per call. One transaction: when this returns true,
 * both are on disk, and only then may the answer be handed to the subagent's Claude Code. Returns false when the
 * subagent is not running any more; nothing is stored then.
 */
export function acceptSubagentAnswer(
  database: LedgerDatabase,
  session: SessionId,
  id: SubsessionId,
  answer: SubagentAnswer,
  now: Date,
): boolean {
  const at = now.toISOString();
  return database.transaction(() => {
    const subsession = findSubsession(database, session, id);
    if (subsession?.state !== 'running') return false;
    const turn = findAction(database, subsession.actionId)?.turnId;
    if (turn === undefined) return false;
    const text = truncateText(answer.text, MAX_TEXT_BYTES);
    insertActions(database, session, turn, answer.actions, at, id);
    addSubsessionTurn(database, id, { ...answer, text });
    appendEvent(
      database,
      session,
      'subagent_answered',
      {
        subsession_id: id,
        number: subsession.turns + 1,
        text,
        text_sha256: sha256(answer.text),
        actions: answer.actions.map((action): { action_id: ActionId; tool: string } => ({
          action_id: action.id,
          tool: action.tool,
        })),
        ...(answer.unknownTools.length === 0
          ? {}
          : { unknown_tools: answer.unknownTools.map((name) => name.slice(0, MAX_NAME_LENGTH)) }),
      },
      at,
    );
    return true;
  });
}
