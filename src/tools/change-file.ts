import { failpoint } from '../base/failpoint.ts';
import { ReinsError } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';
import {
  type ActionRecord,
  type PreparedChange,
  prepareAction,
  type Receipt,
} from '../ledger/actions.ts';
import { storeBlob } from '../ledger/blobs.ts';
import { appendEvent } from '../ledger/events.ts';
import { placeFile } from './file-placement.ts';
import { replaceFile } from './replace-file.ts';
import { type SettleOptions, settleAction } from './settle-action.ts';
import type { FileChange, ToolContext } from './tool.ts';

/**
 * Carries out a prepared change: before-image and hashes are durable first, then the file is replaced by
 * compare-and-swap, then the receipt is durable, and only then is it returned. After a crash the hashes tell which of
 * these steps was the last.
 */
export async function changeFile(
  options: SettleOptions & { readonly context: ToolContext },
  action: ActionRecord,
  change: FileChange,
): Promise<Receipt> {
  const prepared = toPrepared(change);
  recordPrepared(options, action, change, prepared);
  const current: ActionRecord = { ...action, ...prepared, state: 'prepared' };
  const receipt: Receipt = {
    text: change.answer.text,
    is_error: false,
    truncated: change.answer.truncated,
    code: null,
  };
  try {
    const placement = await placeFile(change.path, options.context, change.before === null);
    try {
      await replaceFile(change, placement, action.id);
    } finally {
      await placement.close();
    }
  } catch (error) {
    return recordFailure(options, current, error);
  }
  settleAction(options, current, 'applied', receipt);
  return receipt;
}

function toPrepared(change: FileChange): PreparedChange {
  return {
    path: change.path,
    beforeSha256: change.before === null ? null : sha256(change.before.bytes),
    beforeMode: change.before?.mode ?? null,
    afterSha256: sha256(change.after),
  };
}

function recordPrepared(
  options: SettleOptions,
  action: ActionRecord,
  change: FileChange,
  prepared: PreparedChange,
): void {
  const { database, session } = options;
  const at = options.clock().toISOString();
  database.transaction(() => {
    if (change.before !== null) storeBlob(database, change.before.bytes, at);
    storeBlob(database, change.after, at);
    prepareAction(database, action, prepared, at);
    appendEvent(
      database,
      session,
      'action_prepared',
      {
        action_id: action.id,
        tool: action.tool,
        path: prepared.path,
        before_sha256: prepared.beforeSha256,
        after_sha256: prepared.afterSha256,
      },
      at,
    );
    failpoint('prepare-written');
  });
  failpoint('prepare-synced');
}

/**
 * A change that certainly did not happen has failed. One that the disk did not confirm stays `prepared`, with no
 * receipt: what became of it is for the reconciliation to find out.
 */
function recordFailure(options: SettleOptions, action: ActionRecord, error: unknown): Receipt {
  const known = error instanceof ReinsError;
  const code = known ? error.code : 'internal';
  const receipt: Receipt = {
    text: `${code}: ${known ? error.message : 'The change failed in a way that is not known, and was not made.'}`,
    is_error: true,
    truncated: false,
    code,
  };
  if (code !== 'write_unconfirmed') settleAction(options, action, 'failed', receipt);
  return receipt;
}
