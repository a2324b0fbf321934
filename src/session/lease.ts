import type { LeaseId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { type SessionRecord, setSessionLease } from '../ledger/sessions.ts';

export const DEFAULT_LEASE_SECONDS = 2 * 60 * 60;
/** A session that nobody has spoken to for a week holds a process and a conversation that nobody misses. */
export const MAX_LEASE_SECONDS = 7 * 24 * 60 * 60;

/** When a lease that is taken or extended at `now` runs out. */
export function leaseExpiry(now: Date, leaseSeconds: number): string {
  return new Date(now.getTime() + leaseSeconds * 1000).toISOString();
}

/** Throws unless `leaseId` is the session's current lease. An expired lease still identifies its last holder. */
export function requireLeaseHolder(session: SessionRecord, leaseId: string): void {
  if (session.leaseId === leaseId) return;
  throw new ReinsError(
    'lease_stale',
    'lease_id is not the current lease of this session, because another client recovered it since; call native_session_recover with the recovery token to take it over.',
  );
}

/** A lease is live until its time, whatever became of the session under it. */
export function isLeaseLive(session: SessionRecord, now: Date): boolean {
  return session.leaseExpiresAt > now.toISOString();
}

/** Throws unless `leaseId` is the session's current lease and has not run out at `now`. */
export function requireLiveLease(session: SessionRecord, leaseId: string, now: Date): void {
  requireLeaseHolder(session, leaseId);
  if (isLeaseLive(session, now)) return;
  throw new ReinsError(
    'lease_expired',
    `lease_id ran out at ${session.leaseExpiresAt}; call native_session_recover with the recovery token for a new lease, then native_session_continue.`,
  );
}

/** Every accepted call that carries the lease gives it its full length again. */
export function extendLease(database: LedgerDatabase, session: SessionRecord, now: Date): void {
  setSessionLease(database, session.id, session.leaseId, leaseExpiry(now, session.leaseSeconds));
}

/** Narrow entry for rotation, so that no other module writes a lease id. */
export function replaceLease(
  database: LedgerDatabase,
  session: SessionRecord,
  leaseId: LeaseId,
  now: Date,
): void {
  setSessionLease(database, session.id, leaseId, leaseExpiry(now, session.leaseSeconds));
}
