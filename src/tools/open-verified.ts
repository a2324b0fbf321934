import { constants, fstatSync, readlinkSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { ReinsError } from '../base/reins-error.ts';
import { protectedPath, requireOpenPlace, toPathError } from './resolve-path.ts';
import { showPath } from './show-path.ts';
import type { ToolContext } from './tool.ts';

/** An open file that is proved to be the one its path names, with no symbolic link on the way. */
export interface OpenedFile {
  readonly handle: FileHandle;
  readonly stat: Stats;
}

/**
 * Opens a regular file for reading. It is looked at before it is opened, since opening a pipe or a device can block
 * or have effects, and looked at again afterwards, since it can change in between. Throws a coded error for anything
 * else: directories, pipes, devices, symbolic links anywhere in the path, files of protected inodes.
 */
export async function openRegularFile(path: string, context: ToolContext): Promise<OpenedFile> {
  const before = await lstat(path).catch((error: unknown) => {
    throw toPathError(error, path);
  });
  if (before.isSymbolicLink()) throw await symbolicLink(path, context);
  requireRegular(before, path);
  const handle = await open(
    path,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch((error: unknown) => {
    throw toPathError(error, path);
  });
  try {
    await requireSamePath(handle, path, context);
    // Of an open descriptor the kernel answers from memory: no need to wait for a thread.
    const stat = fstatSync(handle.fd);
    requireRegular(stat, path);
    const reason = context.protection.reasonForFile(stat);
    if (reason !== undefined)
      throw protectedPath(path, `it is the same file as one of the ${reason}`);
    return { handle, stat };
  } catch (error) {
    await handle.close();
    throw toPathError(error, path);
  }
}

/** Opens a directory of the exact path given. Throws as `openRegularFile` does. */
export async function openDirectory(path: string, context: ToolContext): Promise<FileHandle> {
  const handle = await open(
    path,
    constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
  ).catch(async (error: unknown) => {
    const stat = await lstat(path).catch(() => undefined);
    if (stat?.isSymbolicLink()) throw await symbolicLink(path, context);
    if (stat !== undefined && !stat.isDirectory()) {
      throw new ReinsError(
        'not_a_directory',
        `${path} is a file; name the directory that contains it.`,
      );
    }
    throw toPathError(error, path);
  });
  try {
    await requireSamePath(handle, path, context);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Throws `symbolic_link` unless the opened object is at the very path that was asked for. Linux tells the path of an
 * open descriptor, which leaves no moment for a swap. Elsewhere the path is resolved once more, and somebody who swaps
 * it there and back between the two looks is not noticed.
 */
async function requireSamePath(
  handle: FileHandle,
  path: string,
  context: ToolContext,
): Promise<void> {
  const actual =
    process.platform === 'linux'
      ? readlinkSync(`/proc/self/fd/${handle.fd}`)
      : await realpath(path);
  if (actual !== path) throw await explainMismatch(path, context);
}

/** What was opened is not at `path`: because of a link on the way, or because an editor put a new file in its place. */
async function explainMismatch(path: string, context: ToolContext): Promise<ReinsError> {
  const real = await realpath(path).catch(() => path);
  if (real !== path) return symbolicLink(path, context);
  return new ReinsError(
    'file_changed',
    `${path} was moved or replaced while it was being opened; repeat the call.`,
  );
}

async function symbolicLink(path: string, context: ToolContext): Promise<ReinsError> {
  const target = await realpath(path).catch(() => undefined);
  if (target === undefined) {
    return new ReinsError(
      'symbolic_link',
      `${path} is or passes through a symbolic link that leads nowhere; links are not followed.`,
    );
  }
  try {
    requireOpenPlace(target, context);
  } catch (error) {
    if (error instanceof ReinsError) {
      return new ReinsError(
        'symbolic_link',
        `${path} is or passes through a symbolic link into a closed place; links are not followed.`,
      );
    }
    throw error;
  }
  return new ReinsError(
    'symbolic_link',
    `${path} is or passes through a symbolic link, and links are not followed; its real path is ${showPath(target)}.`,
  );
}

function requireRegular(stat: Stats, path: string): void {
  if (stat.isFile()) return;
  if (stat.isDirectory()) {
    throw new ReinsError(
      'not_a_regular_file',
      `${path} is a directory; FindFiles lists its files.`,
    );
  }
  const what = stat.isFIFO()
    ? 'a named pipe'
    : stat.isSocket()
      ? 'a socket'
      : stat.isSymbolicLink()
        ? 'a symbolic link'
        : 'a device';
  throw new ReinsError('not_a_regular_file', `${path} is ${what}; only regular files can be used.`);
}
