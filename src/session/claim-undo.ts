import type { SessionId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { type ProcessRecord, setSessionUndoer } from '../ledger/sessions.ts';
import { SESSION_TABLE } from '../machine/session-machine.ts';
import { requireSession } from './require-session.ts';

/**
 * Reserves a session that is at rest for a process that undoes its changes: until it lets go or is gone, the session
 * takes no prompt and nobody settles its actions. Throws `undo_refused`.
 */
export function claimUndo(
  database: LedgerDatabase,
  session: SessionId,
  self: ProcessRecord,
  isAlive: (other: ProcessRecord) => boolean,
): void {
  database.transaction(() => {
    const current = requireSession(database, session);
    if (SESSION_TABLE[current.status].prompt_queued === undefined) {
      throw new ReinsError(
        'undo_refused',
        `Session ${session} is ${current.status}; stop it with native_session_stop, or let it finish, and undo then.`,
      );
    }
    if (current.undoer !== null && isAlive(current.undoer)) {
      throw new ReinsError(
        'undo_refused',
        `Another process is undoing changes of session ${session}; wait until it has ended.`,
      );
    }
    setSessionUndoer(database, session, self);
  });
}
