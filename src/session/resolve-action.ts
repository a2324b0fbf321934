import type { SessionId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { endAction, listActions } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';

/** A person has looked and says what became of an action that nobody could tell about. */
export function resolveAction(
  database: LedgerDatabase,
  session: SessionId,
  actionId: string,
  applied: boolean,
  now: Date,
): void {
  const at = now.toISOString();
  database.transaction(() => {
    const action = listActions(database, session).find(({ id }) => id === actionId);
    if (action?.state !== 'unknown') {
      throw new ReinsError(
        'action_unknown_id',
        action === undefined
          ? `Session ${session} has no action ${actionId}; "reins show ${session} --json" lists them.`
          : `Action ${actionId} is ${action.state} and needs no decision.`,
      );
    }
    const receipt = {
      text: applied
        ? `${action.tool} changed ${action.path}, as a person confirmed after a crash.`
        : `write_failed: ${action.tool} did not change ${action.path}, as a person confirmed after a crash.`,
      is_error: !applied,
      truncated: false,
      code: applied ? null : 'write_failed',
    };
    // A receipt that was given out once is vouched for by the timeline and stays what it was.
    endAction(database, action, applied ? 'applied' : 'failed', action.receipt ?? receipt, at);
    appendEvent(
      database,
      session,
      'action_resolved',
      { action_id: action.id, tool: action.tool, path: action.path, applied },
      at,
    );
  });
}
