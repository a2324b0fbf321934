import * as z from 'zod';
import { isSessionId, type SessionId } from '../base/ids.ts';
import type { LedgerDatabase } from './database.ts';

/** A session that may be removed, and what it takes up in the ledger. */
export interface PrunableSession {
  readonly id: SessionId;
  readonly updatedAt: string;
  readonly bytes: number;
}

const prunableRow = z
  .strictObject({
    session_id: z.custom<SessionId>(isSessionId),
    updated_at: z.string(),
    bytes: z.number().int(),
  })
  .transform(
    (row): PrunableSession => ({
      id: row.session_id,
      updatedAt: row.updated_at,
      bytes: row.bytes,
    }),
  );

/**
 * Sessions that have ended, have no runner, no action in doubt and no worktree left, oldest first. A session that somebody might be in the
 * middle of is never among them.
 */
export function listPrunableSessions(database: LedgerDatabase): PrunableSession[] {
  return database.all(
    prunableRow,
    `SELECT s.session_id, s.updated_at,
       COALESCE((SELECT SUM(LENGTH(data)) FROM events e WHERE e.session_id=s.session_id), 0)
       + COALESCE((SELECT SUM(LENGTH(messages)+COALESCE(LENGTH(reply_text),0)) FROM turns t WHERE t.session_id=s.session_id), 0)
       + COALESCE((SELECT SUM(LENGTH(input)+COALESCE(LENGTH(receipt),0)) FROM actions a WHERE a.session_id=s.session_id), 0)
       + COALESCE((SELECT SUM(LENGTH(body)) FROM skills k WHERE k.session_id=s.session_id), 0)
       + COALESCE((SELECT SUM(LENGTH(task)+LENGTH(last_text)) FROM subsessions b WHERE b.session_id=s.session_id), 0)
       + COALESCE((SELECT SUM(LENGTH(bytes)) FROM blobs WHERE sha256 IN (
           SELECT before_sha256 FROM actions a WHERE a.session_id=s.session_id
           UNION SELECT after_sha256 FROM actions a WHERE a.session_id=s.session_id)), 0) AS bytes
     FROM sessions s
     WHERE (s.worktree IS NULL OR json_extract(s.worktree,'$.state')='removed')
       AND s.status IN ('completed','failed','stopped','lease_expired') AND s.runner_id IS NULL
       AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.session_id=s.session_id AND a.state IN ('prepared','unknown','undoing'))
     ORDER BY s.updated_at`,
  );
}

/**
 * Removes one session with everything that only it refers to. Returns false when it has come to life again since it was
 * listed; nothing is removed then. Its conversation can no longer be continued and its changes no longer be undone.
 */
export function deleteSession(database: LedgerDatabase, id: SessionId): boolean {
  return database.transaction(() => {
    if (!listPrunableSessions(database).some((session) => session.id === id)) return false;
    for (const table of ['events', 'subsessions', 'actions', 'turns', 'runs', 'skills']) {
      database.run(`DELETE FROM ${table} WHERE session_id=?`, id);
    }
    database.run('DELETE FROM requests WHERE scope=?', id);
    database.run(
      `DELETE FROM requests WHERE scope='gateway' AND json_extract(outcome, '$.session_id')=?`,
      id,
    );
    database.run('DELETE FROM sessions WHERE session_id=?', id);
    return true;
  });
}

/** Drops contents that no action refers to any more and gives the space back to the file system. */
export function reclaimSpace(database: LedgerDatabase): void {
  database.run(
    `DELETE FROM blobs WHERE sha256 NOT IN (
       SELECT before_sha256 FROM actions WHERE before_sha256 IS NOT NULL
       UNION SELECT after_sha256 FROM actions WHERE after_sha256 IS NOT NULL)`,
  );
  database.execute('VACUUM');
  database.execute('PRAGMA wal_checkpoint(TRUNCATE)');
}
