import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import { findRequest, type RequestKey, recordRequest } from '../ledger/requests.ts';
import { moveSession, setSessionNote } from '../ledger/sessions.ts';
import { SESSION_TABLE } from '../machine/session-machine.ts';
import { requireLeaseHolder } from './lease.ts';
import { requireSession } from './require-session.ts';

export interface StopInput {
  readonly sessionId: string;
  readonly leaseId: string;
  readonly requestId: string;
  readonly reason: string | null;
}

/**
 * Records that the session is to stop. `stopping` tells the caller whether there is something left to end; a session
 * that has already stopped stays as it is. An expired lease may stop, since that only takes power away.
 */
export function requestStop(
  database: LedgerDatabase,
  input: StopInput,
  now: Date,
): { readonly replay: boolean; readonly stopping: boolean } {
  return database.transaction(() => {
    const session = requireSession(database, input.sessionId);
    requireLeaseHolder(session, input.leaseId);
    const key: RequestKey = { scope: session.id, kind: 'stop', key: input.requestId };
    const keyed = { reason: input.reason };
    if (findRequest(database, key, keyed) !== undefined) {
      return { replay: true, stopping: session.status === 'stopping' };
    }
    const at = now.toISOString();
    recordRequest(database, key, keyed, {}, at);
    if (session.status === 'stopping') return { replay: false, stopping: true };
    if (SESSION_TABLE[session.status].stop_requested === undefined) {
      return { replay: false, stopping: false };
    }
    moveSession(database, session.id, 'stop_requested');
    setSessionNote(database, session.id, 'stop_request', {
      request_id: input.requestId,
      reason: input.reason,
      at,
    });
    appendEvent(database, session.id, 'stop_requested', { reason: input.reason }, at);
    return { replay: false, stopping: true };
  });
}
