import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { SessionId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { type ActionRecord, listOpenActions, moveAction, type Receipt } from '../ledger/actions.ts';
import { readBlob } from '../ledger/blobs.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import { CUT_OFF_RECEIPT } from './begin-command.ts';
import { placeFile } from './file-placement.ts';
import { readFileState } from './read-file-state.ts';
import { replaceFile, temporaryName } from './replace-file.ts';
import { settleAction } from './settle-action.ts';
import type { ToolContext } from './tool.ts';

export interface ReconcileOptions {
  readonly database: LedgerDatabase;
  readonly session: SessionId;
  readonly context: ToolContext;
  readonly clock: Clock;
  /** Whether a change that was authorised and did not happen yet is to happen now. False after a stop. */
  readonly redo: boolean;
  onChange(): void;
}

/**
 * Finds out what became of the changes that were under way when a process ended, by comparing each file with the
 * hashes that were recorded before. The content from before: it did not happen, and is made now or failed. The content
 * from after: it happened. Anything else: nobody can tell, and a person has to look. Nothing is done twice, and a
 * second crash in here leaves the same question to be asked again.
 */
export async function reconcileActions(options: ReconcileOptions): Promise<void> {
  for (const action of listOpenActions(options.database, options.session)) {
    if (action.state === 'prepared' && action.path === null) {
      settleAction(options, action, 'failed', CUT_OFF_RECEIPT);
    }
    if (action.path === null) continue;
    await rm(join(dirname(action.path), temporaryName(action.id)), { force: true }).catch(() => {});
    if (action.state === 'prepared') await reconcilePrepared(options, action, action.path);
    if (action.state === 'undoing') await reconcileUndoing(options, action, action.path);
  }
}

async function reconcilePrepared(
  options: ReconcileOptions,
  action: ActionRecord,
  path: string,
): Promise<void> {
  const actual = await readFileState(path, options.context);
  if (actual.sha256 === action.afterSha256) {
    settleAction(
      options,
      action,
      'applied',
      applied(action, 'It was found applied after a crash.'),
    );
    return;
  }
  if (actual.sha256 !== action.beforeSha256) {
    recordUnknown(options, action);
    return;
  }
  // A subagent that has ended acts no more, not even by what it had begun.
  if (!options.redo || action.subsessionId !== null) {
    settleAction(options, action, 'failed', {
      text: 'write_failed: The change was prepared and not made, because what it was made for had ended.',
      is_error: true,
      truncated: false,
      code: 'write_failed',
    });
    return;
  }
  await redo(options, action, path, actual.bytes, actual.mode);
}

async function redo(
  options: ReconcileOptions,
  action: ActionRecord,
  path: string,
  before: Buffer | null,
  mode: number,
): Promise<void> {
  const after =
    action.afterSha256 === null ? undefined : readBlob(options.database, action.afterSha256);
  if (after === undefined) {
    recordUnknown(options, action);
    return;
  }
  const change = {
    path,
    before: before === null ? null : { bytes: before, mode },
    after: Buffer.from(after),
    answer: { text: '', truncated: false },
  };
  try {
    const placement = await placeFile(path, options.context, before === null);
    try {
      await replaceFile(change, placement, action.id);
    } finally {
      await placement.close();
    }
  } catch (error) {
    const known = error instanceof ReinsError;
    if (known && error.code === 'write_unconfirmed') return;
    const code = known ? error.code : 'write_failed';
    settleAction(options, action, 'failed', {
      text: `${code}: ${known ? error.message : `${path} could not be written and is unchanged.`}`,
      is_error: true,
      truncated: false,
      code,
    });
    return;
  }
  settleAction(options, action, 'applied', applied(action, 'It was completed after a crash.'));
}

async function reconcileUndoing(
  options: ReconcileOptions,
  action: ActionRecord,
  path: string,
): Promise<void> {
  const { database, session } = options;
  const actual = await readFileState(path, options.context);
  const at = options.clock().toISOString();
  const data = { action_id: action.id, tool: action.tool, path };
  database.transaction(() => {
    if (actual.sha256 === action.beforeSha256) {
      moveAction(database, action, 'undone', at);
      appendEvent(database, session, 'action_undone', data, at);
    } else if (actual.sha256 === action.afterSha256) {
      moveAction(database, action, 'undo_failed', at);
      appendEvent(database, session, 'undo_failed', data, at);
    } else {
      moveAction(database, action, 'lost_track', at);
      appendEvent(database, session, 'action_unknown', data, at);
    }
  });
  options.onChange();
}

function recordUnknown(options: ReconcileOptions, action: ActionRecord): void {
  const { database, session } = options;
  const at = options.clock().toISOString();
  database.transaction(() => {
    moveAction(database, action, 'lost_track', at);
    appendEvent(
      database,
      session,
      'action_unknown',
      { action_id: action.id, tool: action.tool, path: action.path },
      at,
    );
  });
  options.onChange();
}

function applied(action: ActionRecord, how: string): Receipt {
  return {
    text: `${action.tool} changed ${action.path}. ${how}`,
    is_error: false,
    truncated: false,
    code: null,
  };
}
