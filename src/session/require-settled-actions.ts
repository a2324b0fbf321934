import type { SessionId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { type ActionRecord, listOpenActions } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { findActiveSubsession } from '../ledger/subsessions.ts';

/**
 * Throws `recovery_required` while it is not certain what became of an action. Nothing is under way when this is asked,
 * but for what a subagent does, so an action that is prepared has lost whoever prepared it. A model must not go on from
 * a guess.
 */
export function requireSettledActions(database: LedgerDatabase, session: SessionId): void {
  const active = findActiveSubsession(database, session)?.id;
  const doubtful = listOpenActions(database, session).find(
    ({ state, subsessionId }) =>
      state !== 'authorized' && (subsessionId === null || subsessionId !== active),
  );
  if (doubtful === undefined) return;
  throw new ReinsError(
    'recovery_required',
    `It is not certain whether action ${doubtful.id} (${doubtful.tool}) changed ${doubtful.path}; ${remedy(session, doubtful)}.`,
  );
}

function remedy(session: SessionId, action: ActionRecord): string {
  return action.state === 'unknown'
    ? `the file has neither the content from before nor the one from after, so look at it and type "reins resolve ${session} ${action.id} --as applied" or "--as not-applied"`
    : 'end the session with native_session_stop, and native_session_continue settles it by looking at the file';
}
