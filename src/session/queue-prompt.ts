import { mintRunId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import { findRequest, type RequestKey, recordRequest } from '../ledger/requests.ts';
import { insertRun } from '../ledger/runs.ts';
import { moveSession, setSessionNote } from '../ledger/sessions.ts';
import { SESSION_TABLE } from '../machine/session-machine.ts';
import { extendLease, requireLiveLease } from './lease.ts';
import { requireSession } from './require-session.ts';
import { requireSettledActions } from './require-settled-actions.ts';

export interface ContinueInput {
  readonly sessionId: string;
  readonly leaseId: string;
  readonly prompt: string;
  readonly idempotencyKey: string;
}

/** Queues the next prompt of a session whose last one has ended, or finds that the same key queued it before. */
export function queuePrompt(
  database: LedgerDatabase,
  input: ContinueInput,
  now: Date,
): { readonly replay: boolean } {
  return database.transaction(() => {
    const session = requireSession(database, input.sessionId);
    const key: RequestKey = { scope: session.id, kind: 'continue', key: input.idempotencyKey };
    const keyed = { prompt: input.prompt };
    if (findRequest(database, key, keyed) !== undefined) {
      requireLiveLease(session, input.leaseId, now);
      return { replay: true };
    }
    requireLiveLease(session, input.leaseId, now);
    if (SESSION_TABLE[session.status].prompt_queued === undefined) {
      throw new ReinsError(
        'session_busy',
        `The session is ${session.status}, so it takes no new prompt; answer its pending turn with native_session_reply_and_wait, or end it with native_session_stop first.`,
      );
    }
    if (session.undoer !== null) {
      throw new ReinsError(
        'session_busy',
        'Changes of the session are being undone; repeat the call when that has ended.',
      );
    }
    requireSettledActions(database, session.id);
    const at = now.toISOString();
    const runId = mintRunId();
    moveSession(database, session.id, 'prompt_queued');
    setSessionNote(database, session.id, 'launch_error', null);
    setSessionNote(database, session.id, 'stop_request', null);
    insertRun(database, session.id, runId, input.prompt, at);
    extendLease(database, session, now);
    appendEvent(database, session.id, 'run_queued', { run_id: runId }, at);
    recordRequest(database, key, keyed, {}, at);
    return { replay: false };
  });
}
