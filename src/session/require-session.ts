import { isSessionId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { findSession, type SessionRecord } from '../ledger/sessions.ts';

/** The session with this id. Throws `session_unknown`, which tells nothing about other sessions. */
export function requireSession(database: LedgerDatabase, id: string): SessionRecord {
  const session = isSessionId(id) ? findSession(database, id) : undefined;
  if (session !== undefined) return session;
  throw new ReinsError(
    'session_unknown',
    'native_session_id names no session of this state directory; use the id that native_session_start returned, or start a session.',
  );
}
