import type { Clock } from '../base/clock.ts';
import { failpoint } from '../base/failpoint.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import type { SessionRecord } from '../ledger/sessions.ts';
import { type AcceptedReply, acceptReply } from '../session/accept-reply.ts';
import { checkReply } from '../session/check-reply.ts';
import { queuePrompt } from '../session/queue-prompt.ts';
import { requestStop } from '../session/request-stop.ts';
import { requireSession } from '../session/require-session.ts';
import { isSettled } from '../session/settled.ts';
import { checkToolCall } from '../tools/tool-set.ts';
import type { WireRequest } from '../wire/protocol.ts';
import type { ChangeSignal } from './change-signal.ts';

export interface RequestHandlers {
  readonly database: LedgerDatabase;
  readonly session: SessionRecord;
  readonly clock: Clock;
  readonly changes: ChangeSignal;
  /** The reply is durable and may be handed to Claude Code. */
  release(reply: AcceptedReply): void;
  /** A prompt is queued and may be handed to Claude Code. */
  takeUpPrompt(): void;
  /** Resolves when the processes have ended and the ledger says so. */
  stop(): Promise<void>;
}

/** Answers what a gateway asks of this session. Throws coded errors, which go back to the gateway. */
export async function handleRequest(
  handlers: RequestHandlers,
  request: WireRequest,
): Promise<{ readonly replay: boolean }> {
  const { database, session, clock, changes } = handlers;
  switch (request.method) {
    case 'reply': {
      const reply = { text: request.text, calls: request.calls };
      checkReply(reply, (call, position) =>
        checkToolCall(session.profile, call, position, session.subagentPolicy),
      );
      const accepted = acceptReply(
        database,
        {
          ...reply,
          sessionId: session.id,
          leaseId: request.lease_id,
          turnId: request.turn_id,
          replyId: request.reply_id,
        },
        clock(),
      );
      if (accepted === null) return { replay: true };
      failpoint('reply-committed');
      handlers.release(accepted);
      failpoint('reply-released');
      return { replay: false };
    }
    case 'continue': {
      const outcome = queuePrompt(
        database,
        {
          sessionId: session.id,
          leaseId: request.lease_id,
          prompt: request.prompt,
          idempotencyKey: request.idempotency_key,
        },
        clock(),
      );
      // Also for a repetition: what was queued may not have been taken up, and taking it up twice does nothing.
      handlers.takeUpPrompt();
      changes.notify();
      return outcome;
    }
    case 'stop': {
      const outcome = requestStop(
        database,
        {
          sessionId: session.id,
          leaseId: request.lease_id,
          requestId: request.request_id,
          reason: request.reason,
        },
        clock(),
      );
      if (outcome.stopping) await handlers.stop();
      return { replay: outcome.replay };
    }
    case 'wait':
      await changes.until(() => {
        const current = requireSession(database, session.id);
        return isSettled(current.status) || current.leaseId !== request.lease_id;
      }, request.timeout_ms);
      return { replay: false };
    case 'refresh':
      changes.notify();
      return { replay: false };
  }
}
