import { type ActionRecord, moveAction, type Receipt } from '../ledger/actions.ts';
import { appendEvent } from '../ledger/events.ts';
import type { SettleOptions } from './settle-action.ts';

/**
 * Records the start of a command before it starts, and returns the action as it is then. A command that a crash cut
 * off is therefore known as begun: it is not begun again, and nobody is told that it never ran.
 */
export function beginCommand(options: SettleOptions, action: ActionRecord): ActionRecord {
  const { database, session } = options;
  const at = options.clock().toISOString();
  database.transaction(() => {
    moveAction(database, action, 'prepared', at);
    appendEvent(
      database,
      session,
      'action_prepared',
      { action_id: action.id, tool: action.tool },
      at,
    );
  });
  return { ...action, state: 'prepared' };
}

/** The receipt of a command that was cut off with the process that ran it. */
export const CUT_OFF_RECEIPT: Receipt = {
  text: 'command_stopped: The command was cut off when the process that ran it ended, and was not run again. Nothing that it wrote is left; run it again if its result is needed.',
  is_error: true,
  truncated: false,
  code: 'command_stopped',
};
