import type { Clock } from '../base/clock.ts';
import { failpoint } from '../base/failpoint.ts';
import type { SessionId } from '../base/ids.ts';
import { sha256 } from '../base/sha256.ts';
import { type ActionRecord, endAction, type Receipt, type SeenContent } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';

export interface SettleOptions {
  readonly database: LedgerDatabase;
  readonly session: SessionId;
  readonly clock: Clock;
  onChange(): void;
}

/**
 * Ends an action durably, together with what `alongside` writes. Only after this may its receipt be shown to anybody.
 */
export function settleAction(
  options: SettleOptions,
  action: ActionRecord,
  event: 'applied' | 'failed',
  receipt: Receipt,
  seen?: SeenContent,
  alongside?: (at: string) => void,
): void {
  const { database, session } = options;
  const at = options.clock().toISOString();
  database.transaction(() => {
    endAction(database, action, event, receipt, at, seen);
    appendEvent(
      database,
      session,
      event === 'applied' ? 'action_applied' : 'action_failed',
      {
        action_id: action.id,
        tool: action.tool,
        code: receipt.code,
        path: seen?.path ?? action.path,
        after_sha256: seen?.sha256 ?? action.afterSha256,
        receipt_sha256: sha256(receipt.text),
      },
      at,
    );
    alongside?.(at);
    failpoint('receipt-written');
  });
  failpoint('receipt-synced');
  options.onChange();
}
