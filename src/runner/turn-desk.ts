import type { Clock } from '../base/clock.ts';
import { failpoint } from '../base/failpoint.ts';
import type { SessionId } from '../base/ids.ts';
import type { TurnRequest } from '../bridge/bridge.ts';
import type { BridgeReply, HeldResponse } from '../bridge/held-response.ts';
import { selectNewMessages } from '../bridge/new-messages.ts';
import { toClaudeToolName } from '../claude/contract.ts';
import { listActions } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { findLatestRun } from '../ledger/runs.ts';
import { findLatestTurn, hasReply, type TurnMessage, type TurnRecord } from '../ledger/turns.ts';
import type { AcceptedReply } from '../session/accept-reply.ts';
import { presentTurn } from '../session/present-turn.ts';
import { replyFingerprint } from '../session/reply-fingerprint.ts';
import { toTurnMessages } from './to-turn-messages.ts';
import { listUnseenResults } from './unseen-results.ts';

export interface TurnDeskOptions {
  readonly database: LedgerDatabase;
  readonly session: SessionId;
  readonly sessionRoot: string;
  readonly clock: Clock;
  onChange(): void;
}

/** Where model requests wait as turns and replies are handed out. */
export interface TurnDesk {
  receive(turn: TurnRequest): void;
  /** Hands a reply that is durable to everybody who asked for it. */
  release(reply: AcceptedReply): void;
}

export function createTurnDesk(options: TurnDeskOptions): TurnDesk {
  const { database, session, clock } = options;
  let waiting: HeldResponse[] = [];
  let isFirst = true;
  return {
    receive(turn) {
      const latest = findLatestTurn(database, session);
      if (latest?.requestSha256 === turn.sha256 && latest.state === 'pending') {
        waiting = [...waiting.filter((held) => held.open), turn.held];
        return;
      }
      if (latest?.requestSha256 === turn.sha256 && latest.state !== 'abandoned') {
        turn.held.answer(storedReply(database, session, latest));
        return;
      }
      const run = findLatestRun(database, session);
      if (run === undefined) return;
      const messages = selectNewMessages(turn.request, (text, toolUseIds) =>
        hasReply(database, session, replyFingerprint(text, toolUseIds)),
      );
      const unseen = isFirst ? listUnseenResults(database, session, turn.request) : [];
      waiting = [turn.held];
      presentTurn(
        database,
        session,
        {
          runId: run.id,
          purpose: turn.purpose,
          requestSha256: turn.sha256,
          messages: putBeforeTask(
            unseen,
            toTurnMessages(database, session, turn.purpose, messages, options.sessionRoot),
          ),
        },
        clock(),
      );
      isFirst = false;
      failpoint('turn-stored');
      options.onChange();
    },
    release(reply) {
      const answer = toBridgeReply(reply.text, reply.actions);
      for (const held of waiting) held.answer(answer);
      waiting = [];
      options.onChange();
    },
  };
}

/** What happened before the new prompt comes before it. */
function putBeforeTask(
  earlier: readonly TurnMessage[],
  messages: readonly TurnMessage[],
): TurnMessage[] {
  const task = messages.findLastIndex((message) => message.kind === 'task');
  const at = Math.max(0, task);
  return [...messages.slice(0, at), ...earlier, ...messages.slice(at)];
}

/** The very reply that was given, tool-use ids included: a request that comes again after it gets nothing new. */
function storedReply(database: LedgerDatabase, session: SessionId, turn: TurnRecord): BridgeReply {
  const actions = listActions(database, session).filter(
    (action) => action.turnId === turn.id && action.subsessionId === null,
  );
  return toBridgeReply(turn.replyText ?? '', actions);
}

function toBridgeReply(text: string, actions: AcceptedReply['actions']): BridgeReply {
  return {
    text,
    toolUses: actions.map((action) => ({
      id: action.toolUseId,
      name: toClaudeToolName(action.tool),
      input: action.input,
    })),
  };
}
