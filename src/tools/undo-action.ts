import { constants } from 'node:fs';
import { link, open, rm, unlink } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import type { SessionId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';
import { systemErrorCode } from '../base/system-error-code.ts';
import { type ActionRecord, changesFile, moveAction } from '../ledger/actions.ts';
import { readBlob } from '../ledger/blobs.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent, type EventKind } from '../ledger/events.ts';
import { type FilePlacement, placeFile } from './file-placement.ts';
import { readFileState } from './read-file-state.ts';
import { replaceFile, temporaryName } from './replace-file.ts';
import type { ToolContext } from './tool.ts';

export interface UndoOptions {
  readonly database: LedgerDatabase;
  readonly session: SessionId;
  readonly context: ToolContext;
  readonly clock: Clock;
}

/** A change that can be taken back: both contents are known, and the file still has the one from after. */
export interface UndoPlan {
  readonly action: ActionRecord;
  readonly path: string;
  /** Null when the file did not exist before. */
  readonly before: { readonly bytes: Buffer; readonly mode: number } | null;
  readonly after: Buffer;
}

/**
 * Plans to take one applied change back. Throws `undo_refused` when it changed no file, was taken back already, or the
 * file has changed since; nothing has been done then. `pending` holds what earlier steps of the same undo will leave
 * behind, so that several changes of one file can be planned newest first.
 */
export async function planUndo(
  options: UndoOptions,
  action: ActionRecord,
  pending: ReadonlyMap<string, string | null>,
): Promise<UndoPlan> {
  const { path } = action;
  if (action.state !== 'applied' || path === null || !changesFile(action)) {
    throw refused(action, `it is ${action.state} and changed no file that could be restored`);
  }
  const current = pending.has(path)
    ? pending.get(path)
    : (await readFileState(path, options.context)).sha256;
  if (current !== action.afterSha256) {
    throw refused(
      action,
      `${path} has changed since; undo the later changes first, or restore the file by hand from "reins show"`,
    );
  }
  const after = readStored(options, action, action.afterSha256);
  if (action.beforeSha256 === null) return { action, path, before: null, after };
  const bytes = readStored(options, action, action.beforeSha256);
  return { action, path, before: { bytes, mode: action.beforeMode ?? 0o644 }, after };
}

/**
 * Takes a planned change back by the same compare-and-swap that made it, and records it: prepared before the file is
 * touched, done afterwards. A crash in between is settled by the reconciliation, from the hashes.
 */
export async function undoAction(options: UndoOptions, plan: UndoPlan): Promise<void> {
  const undoing = record(options, plan.action, 'undo_prepared', 'undo_prepared');
  try {
    const placement = await placeFile(plan.path, options.context, false);
    try {
      if (plan.before === null) await removeFile(plan, placement);
      else {
        await replaceFile(
          {
            path: plan.path,
            before: { bytes: plan.after, mode: plan.before.mode },
            after: plan.before.bytes,
            answer: { text: '', truncated: false },
          },
          placement,
          plan.action.id,
        );
      }
    } finally {
      await placement.close();
    }
  } catch (error) {
    const unconfirmed = error instanceof ReinsError && error.code === 'write_unconfirmed';
    if (!unconfirmed) record(options, undoing, 'undo_failed', 'undo_failed');
    throw error;
  }
  record(options, undoing, 'undone', 'action_undone');
}

/**
 * Removes a file that the action created, after comparing what is behind its name. The comparison and the removal are
 * two system calls: a writer who fits between them loses what it wrote. A kill between any two lines leaves at most
 * the second name, which the reconciliation removes.
 */
async function removeFile(plan: UndoPlan, placement: FilePlacement): Promise<void> {
  const target = placement.entry(placement.name);
  const aside = placement.entry(temporaryName(plan.action.id));
  try {
    await link(target, aside);
    if ((await hashOf(aside)) !== plan.action.afterSha256) {
      throw refused(plan.action, `${plan.path} was changed while it was being undone`);
    }
    await unlink(target);
  } catch (error) {
    await rm(aside, { force: true }).catch(() => {});
    if (error instanceof ReinsError) throw error;
    throw new ReinsError(
      'write_failed',
      `${plan.path} could not be removed (${systemErrorCode(error) ?? 'unknown reason'}) and is unchanged; correct permissions on the computer, then repeat the undo.`,
      { cause: error },
    );
  }
  try {
    await rm(aside);
    await placement.directory.sync();
  } catch (error) {
    throw new ReinsError(
      'write_unconfirmed',
      `${plan.path} was removed, and the disk did not confirm it (${systemErrorCode(error) ?? 'unknown reason'}); a person has to look at the file before the session goes on.`,
      { cause: error },
    );
  }
}

async function hashOf(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return sha256(await file.readFile());
  } finally {
    await file.close();
  }
}

function record(
  options: UndoOptions,
  action: ActionRecord,
  event: 'undo_prepared' | 'undone' | 'undo_failed',
  kind: EventKind,
): ActionRecord {
  const { database, session } = options;
  const at = options.clock().toISOString();
  database.transaction(() => {
    moveAction(database, action, event, at);
    appendEvent(
      database,
      session,
      kind,
      {
        action_id: action.id,
        tool: action.tool,
        path: action.path,
        restored_sha256: action.beforeSha256,
      },
      at,
    );
  });
  return { ...action, state: event === 'undo_prepared' ? 'undoing' : action.state };
}

function readStored(options: UndoOptions, action: ActionRecord, hash: string | null): Buffer {
  const bytes = hash === null ? undefined : readBlob(options.database, hash);
  if (bytes !== undefined) return Buffer.from(bytes);
  throw refused(action, 'its content is no longer kept in the ledger');
}

function refused(action: ActionRecord, why: string): ReinsError {
  return new ReinsError(
    'undo_refused',
    `Action ${action.id} (${action.tool}) cannot be undone: ${why}.`,
  );
}
