import { constants, fchmodSync, fstatSync } from 'node:fs';
import { type FileHandle, link, lstat, open, rename, rm } from 'node:fs/promises';
import { failpoint } from '../base/failpoint.ts';
import type { ActionId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { systemErrorCode } from '../base/system-error-code.ts';
import { CREATE_EXCLUSIVELY, type FilePlacement } from './file-placement.ts';
import type { FileChange } from './tool.ts';

/** The name of the file that an action writes before it takes the place of the old one; recovery looks for it. */
export function temporaryName(action: ActionId): string {
  return `.reins-${action}.tmp`;
}

/**
 * Puts `change.after` in place if, and only if, the file still has exactly the bytes of `change.before`.
 *
 * The new content is complete and synced under another name first; a rename then makes it visible in one step, and
 * the directory is synced (a new file is linked instead, which fails where a rename would replace), so a crash leaves the old or the new content and never a mixture. A kill between any two
 * lines leaves at most the temporary file. The last comparison and the rename are two system calls: a writer who
 * fits between them is overwritten, and its bytes are lost.
 */
export async function replaceFile(
  change: FileChange,
  placement: FilePlacement,
  action: ActionId,
): Promise<void> {
  const temporary = placement.entry(temporaryName(action));
  const target = placement.entry(placement.name);
  try {
    await writeTemporary(temporary, target, change);
    if (change.before === null) await link(temporary, target);
    else {
      await requireSameBytes(target, change.before.bytes, change.path);
      await rename(temporary, target);
    }
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw toWriteError(error, change.path);
  }
  failpoint('renamed');
  try {
    if (change.before === null) await rm(temporary);
    await placement.directory.sync();
    failpoint('directory-synced');
  } catch (error) {
    throw new ReinsError(
      'write_unconfirmed',
      `${change.path} was replaced, and the disk did not confirm it (${systemErrorCode(error) ?? 'unknown reason'}); a person has to look at the file before the session goes on.`,
      { cause: error },
    );
  }
}

async function writeTemporary(
  temporary: string,
  target: string,
  change: FileChange,
): Promise<void> {
  const mode = change.before?.mode ?? 0o666;
  const file = await open(temporary, CREATE_EXCLUSIVELY, mode);
  try {
    if (change.before !== null) {
      await keepOwner(file, target, change.path);
      fchmodSync(file.fd, mode);
    }
    await file.writeFile(change.after);
    failpoint('temp-written');
    await file.sync();
    failpoint('temp-synced');
  } finally {
    await file.close();
  }
}

async function requireSameBytes(target: string, expected: Buffer, path: string): Promise<void> {
  const file = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const actual = Buffer.allocUnsafe(expected.length + 1);
    let size = 0;
    while (size < actual.length) {
      const { bytesRead } = await file.read(actual, size, actual.length - size, size);
      size += bytesRead;
      const complete = size === expected.length && fstatSync(file.fd).size === size;
      if (complete || bytesRead === 0) break;
    }
    if (size === expected.length && actual.subarray(0, size).equals(expected)) return;
  } finally {
    await file.close();
  }
  throw new ReinsError(
    'file_changed',
    `${path} was changed by somebody else while the change was being prepared; Read it again and repeat the change.`,
  );
}

async function keepOwner(file: FileHandle, target: string, path: string): Promise<void> {
  const [own, old] = [fstatSync(file.fd), await lstat(target)];
  if (own.uid === old.uid && own.gid === old.gid) return;
  await file.chown(old.uid, old.gid).catch(() => {
    throw new ReinsError(
      'permission_denied',
      `${path} belongs to another user or group, which replacing it would change; change it outside this session.`,
    );
  });
}

function toWriteError(error: unknown, path: string): ReinsError {
  if (error instanceof ReinsError) return error;
  const code = systemErrorCode(error) ?? 'unknown reason';
  if (code === 'EEXIST') {
    return new ReinsError(
      'file_changed',
      `${path} was created by somebody else meanwhile; Read it before writing it.`,
    );
  }
  return new ReinsError(
    'write_failed',
    `${path} could not be written (${code}) and is unchanged; free space or correct permissions on the computer, then repeat the call.`,
    { cause: error },
  );
}
