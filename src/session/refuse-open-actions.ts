import type { SessionId, SubsessionId } from '../base/ids.ts';
import { endAction, listOpenActions } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';

/**
 * Closes calls that were authorised and are not going to be carried out, of one subagent or of everybody. One that is
 * `prepared` is left alone, because only its file can tell whether it happened.
 */
export function refuseOpenActions(
  database: LedgerDatabase,
  session: SessionId,
  whose: SubsessionId | 'everybody',
  text: string,
  at: string,
): void {
  for (const action of listOpenActions(database, session)) {
    const isMeant = whose === 'everybody' || action.subsessionId === whose;
    if (!isMeant || action.state !== 'authorized') continue;
    const receipt = { text, is_error: true, truncated: false, code: 'not_authorized' };
    endAction(database, action, 'refused', receipt, at);
    appendEvent(
      database,
      session,
      'action_refused',
      { action_id: action.id, tool: action.tool, code: receipt.code },
      at,
    );
  }
}
