import * as z from 'zod';
import { isLeaseId, type LeaseId, mintLeaseId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { type SessionTokens, secretsEqual } from '../base/session-tokens.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import { findRequest, type RequestKey, recordRequest } from '../ledger/requests.ts';
import { setFullContextDue } from '../ledger/sessions.ts';
import { findLatestTurn, setTurnFullContext } from '../ledger/turns.ts';
import { replaceLease } from './lease.ts';
import { requireSession } from './require-session.ts';

export interface RecoverInput {
  readonly sessionId: string;
  readonly recoveryToken: string;
  readonly recoveryId: string;
}

const outcomeSchema = z.strictObject({ lease_id: z.custom<LeaseId>(isLeaseId) });

/**
 * Gives the holder of the recovery token a new lease; the old one is dead when this returns. The turn that is pending,
 * or the next one, is shown in full, because who asks may be a new conversation that has seen nothing.
 */
export function rotateLease(
  database: LedgerDatabase,
  tokens: SessionTokens,
  input: RecoverInput,
  now: Date,
): { readonly replay: boolean; readonly leaseId: LeaseId } {
  return database.transaction(() => {
    const session = requireSession(database, input.sessionId);
    if (!secretsEqual(tokens.recoveryToken(session.id), input.recoveryToken)) {
      throw new ReinsError(
        'recovery_token_invalid',
        'recovery_token does not belong to this session; use the token that native_session_start returned with it.',
      );
    }
    const key: RequestKey = { scope: session.id, kind: 'recover', key: input.recoveryId };
    const stored = findRequest(database, key, {});
    if (stored !== undefined) {
      const { lease_id: leaseId } = outcomeSchema.parse(stored);
      if (session.leaseId === leaseId) return { replay: true, leaseId };
      throw new ReinsError(
        'lease_stale',
        'recovery_id was used before and the lease that it gave has been rotated since; use a new recovery_id to take the session over.',
      );
    }
    const at = now.toISOString();
    const leaseId = mintLeaseId();
    replaceLease(database, session, leaseId, now);
    setFullContextDue(database, session.id, true);
    const turn = findLatestTurn(database, session.id);
    if (turn?.state === 'pending') setTurnFullContext(database, turn.id);
    appendEvent(database, session.id, 'lease_rotated', {}, at);
    recordRequest(database, key, {}, { lease_id: leaseId }, at);
    return { replay: false, leaseId };
  });
}
