import { isTurnId, mintActionId, mintToolUseId, type ToolUseId, type TurnId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';
import { insertActions, type NewAction } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import { findRequest, type RequestKey, recordRequest } from '../ledger/requests.ts';
import { moveSession, type SessionRecord, setFullContextDue } from '../ledger/sessions.ts';
import { findActiveSubsession } from '../ledger/subsessions.ts';
import { answerTurn, findTurn, type TurnRecord } from '../ledger/turns.ts';
import { SESSION_TABLE } from '../machine/session-machine.ts';
import {
  objectToReply,
  SUBAGENT_GET,
  SUBAGENT_START,
  SUBAGENT_STOP,
} from '../machine/subagent-rules.ts';
import type { Reply } from './check-reply.ts';
import { extendLease, requireLiveLease } from './lease.ts';
import { replyFingerprint } from './reply-fingerprint.ts';
import { requireSession } from './require-session.ts';
import { requireSettledActions } from './require-settled-actions.ts';

export interface ReplyInput extends Reply {
  readonly sessionId: string;
  readonly leaseId: string;
  readonly turnId: string;
  readonly replyId: string;
}

/** A reply that is durable and may now be released to the process that waits for it. */
export interface AcceptedReply {
  readonly turnId: TurnId;
  readonly text: string;
  readonly actions: readonly NewAction[];
}

/**
 * Stores a checked reply with one `authorized` action per call, each with a tool-use id minted here. One
 * transaction: when this returns, reply and actions are on disk, and only then may anything be released. Returns
 * null for a repetition of a reply that was accepted before.
 */
export function acceptReply(
  database: LedgerDatabase,
  input: ReplyInput,
  now: Date,
): AcceptedReply | null {
  return database.transaction(() => {
    const session = requireSession(database, input.sessionId);
    const key: RequestKey = { scope: session.id, kind: 'reply', key: input.replyId };
    const keyed = {
      turn_id: input.turnId,
      text: input.text,
      tool_calls: input.calls.map(({ tool, input: args }) => ({ tool, input: args })),
    };
    const stored = findRequest(database, key, keyed);
    requireLiveLease(session, input.leaseId, now);
    if (stored !== undefined) return null;
    const turn = requirePendingTurn(database, session, input.turnId);
    if (SESSION_TABLE[session.status].reply_accepted === undefined) {
      throw new ReinsError(
        'session_not_running',
        `The session is ${session.status}, so its turn takes no reply any more; native_session_continue gives it a new prompt once it has stopped.`,
      );
    }
    if (turn.purpose === 'compaction' && input.calls.length > 0) {
      throw new ReinsError(
        'reply_not_allowed',
        'tool_calls cannot be given here, because this turn asks for a summary of the conversation; answer it with text alone.',
      );
    }
    requireSubagentRules(database, session, turn, input);
    if (input.calls.length > 0) requireSettledActions(database, session.id);
    const at = now.toISOString();
    const actions = input.calls.map(
      (call): NewAction => ({
        id: mintActionId(),
        toolUseId: mintToolUseId(),
        tool: call.tool,
        input: call.input,
      }),
    );
    const toolUseIds: readonly ToolUseId[] = actions.map((action) => action.toolUseId);
    answerTurn(
      database,
      turn,
      { text: input.text, fingerprint: replyFingerprint(input.text, toolUseIds) },
      at,
    );
    if (turn.fullContext) setFullContextDue(database, session.id, false);
    insertActions(database, session.id, turn.id, actions, at);
    moveSession(database, session.id, 'reply_accepted');
    extendLease(database, session, now);
    appendEvent(
      database,
      session.id,
      'reply_accepted',
      {
        turn_id: turn.id,
        text_sha256: sha256(input.text),
        actions: actions.map((action) => ({ action_id: action.id, tool: action.tool })),
      },
      at,
    );
    recordRequest(database, key, keyed, { turn_id: turn.id }, at);
    return { turnId: turn.id, text: input.text, actions };
  });
}

function requirePendingTurn(
  database: LedgerDatabase,
  session: SessionRecord,
  turnId: string,
): TurnRecord {
  const turn = isTurnId(turnId) ? findTurn(database, session.id, turnId) : undefined;
  if (turn === undefined) {
    throw new ReinsError(
      'turn_unknown',
      'turn_id names no turn of this session; use pending_turn.turn_id of the latest state, which native_session_status shows.',
    );
  }
  if (turn.state !== 'pending') {
    throw new ReinsError(
      'turn_finished',
      `turn_id names turn ${turn.sequence}, which is ${turn.state} and takes no reply; call native_session_status for the turn that is pending now.`,
    );
  }
  return turn;
}

/** Throws `reply_not_allowed` for what a subagent that works, or is to be started, rules out. */
function requireSubagentRules(
  database: LedgerDatabase,
  session: SessionRecord,
  turn: TurnRecord,
  reply: Reply,
): void {
  const active = findActiveSubsession(database, session.id);
  const objection = objectToReply({
    isSubagentActive: active !== undefined,
    isSummary: turn.purpose === 'compaction',
    tools: reply.calls.map(({ tool }) => tool),
  });
  switch (objection?.kind) {
    case undefined:
      return;
    case 'not_alone':
      throw new ReinsError(
        'reply_not_allowed',
        `${SUBAGENT_START} has to be the only call of its reply and tool_calls has ${reply.calls.length} entries; give it alone, and the others before it or after the subagent has ended.`,
      );
    case 'locked':
      throw new ReinsError(
        'reply_not_allowed',
        `tool_calls[${objection.position}].name is "${objection.tool}", which has to wait while the subagent ${active?.id} is ${active?.state}; use Read, FindFiles, SearchText or ${SUBAGENT_GET}, or end it with ${SUBAGENT_STOP}.`,
      );
    case 'would_end':
      throw new ReinsError(
        'reply_not_allowed',
        `text alone would end the run while the subagent ${active?.id} is ${active?.state}; wait for it with ${SUBAGENT_GET}, or end it with ${SUBAGENT_STOP} first.`,
      );
  }
}
