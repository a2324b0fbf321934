import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemErrorCode } from '../base/system-error-code.ts';
import { openDirectory } from './open-verified.ts';
import { toPathError } from './resolve-path.ts';
import type { ToolContext } from './tool.ts';

/** The directory that holds a file, held open, so that nothing can be swapped in underneath. */
export interface FilePlacement {
  readonly directory: FileHandle;
  /** A path by which the entry `name` of exactly this directory is reached. */
  entry(name: string): string;
  readonly name: string;
  /** Never fails: nothing is written through the directory, so whether it closes says nothing of a change. */
  close(): Promise<void>;
}

/** How many missing directories a single Write makes. */
const MAX_NEW_DIRECTORIES = 32;

/**
 * Opens the parent directory of `path`, making what is missing of it only if `makeMissing`: a file that is there
 * has its directory, and one that is gone is not to be made up for. Throws what `openDirectory` throws.
 */
export async function placeFile(
  path: string,
  context: ToolContext,
  makeMissing: boolean,
): Promise<FilePlacement> {
  const allowance = makeMissing ? MAX_NEW_DIRECTORIES : 0;
  const directory = await openOrMake(dirname(path), context, allowance);
  return {
    directory,
    name: basename(path),
    entry: (name) => entryPath(directory, dirname(path), name),
    close: () => directory.close().catch(() => {}),
  };
}

/**
 * On Linux the kernel resolves the name in the open directory itself, wherever that may have been moved. Elsewhere
 * Node offers no such call and the name is resolved from the root again: a directory that is swapped for a symbolic
 * link in that moment is followed.
 */
function entryPath(directory: FileHandle, path: string, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${directory.fd}/${name}` : join(path, name);
}

async function openOrMake(
  path: string,
  context: ToolContext,
  allowance: number,
): Promise<FileHandle> {
  const stat = await lstat(path).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT' && allowance > 0) return undefined;
    throw toPathError(error, path);
  });
  if (stat !== undefined) return openDirectory(path, context);
  const parent = await openOrMake(dirname(path), context, allowance - 1);
  try {
    await mkdir(entryPath(parent, dirname(path), basename(path)), 0o777).catch((error: unknown) => {
      if (systemErrorCode(error) !== 'EEXIST') throw toPathError(error, path);
    });
    await parent.sync();
  } finally {
    await parent.close();
  }
  return openDirectory(path, context);
}

/** Flags for a file that nobody else has made or linked in meanwhile. */
export const CREATE_EXCLUSIVELY =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
