import { escapeText } from '../base/escape-text.ts';
import { ReinsError } from '../base/reins-error.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { listSessions, type SessionRecord } from '../ledger/sessions.ts';

/** As many sessions as an abbreviated id is looked up among. */
const MAX_SESSIONS = 10_000;

/** The session whose id is or starts with `id`. Throws `session_unknown` when there is none or more than one. */
export function findSessionByPrefix(database: LedgerDatabase, id: string): SessionRecord {
  const matching = listSessions(database, MAX_SESSIONS).filter((session) =>
    session.id.startsWith(id),
  );
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  throw new ReinsError(
    'session_unknown',
    matching.length === 0
      ? `There is no session ${escapeText(id)}; "reins sessions" lists them.`
      : `${escapeText(id)} is the start of ${matching.length} session ids; type more of it.`,
  );
}
