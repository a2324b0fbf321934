import { lstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openDirectory, openRegularFile } from './open-verified.ts';
import { VIRTUAL_ROOTS } from './resolve-path.ts';
import type { ToolContext } from './tool.ts';

/**
 * The place that a search was asked to look at, held open while ripgrep runs. On Linux ripgrep reaches it through the
 * descriptor, so a directory that is swapped for a symbolic link after it was checked is not followed. What is swapped
 * below it while ripgrep walks can still lead it astray, hence nothing but names and numbers is taken from a walk.
 */
export interface SearchRoot {
  readonly handle: FileHandle;
  readonly isFile: boolean;
  /** Where ripgrep runs, and what it is told to search there. */
  readonly cwd: string;
  readonly args: readonly string[];
  /** The absolute path of a record of ripgrep's. */
  toPath(record: Buffer): Buffer;
}

/** Throws what opening throws: for links, pipes, protected files and everything that is not there. */
export async function openSearchRoot(path: string, context: ToolContext): Promise<SearchRoot> {
  return isDirectory(path) ? openTree(path, context) : openFile(path, context);
}

async function openFile(path: string, context: ToolContext): Promise<SearchRoot> {
  const { handle } = await openRegularFile(path, context);
  return {
    handle,
    isFile: true,
    cwd: '/',
    args: ['--', descriptorPath(handle, path)],
    toPath: () => Buffer.from(path),
  };
}

/** A directory that is to be walked. Throws what `openDirectory` throws. */
export async function openTree(path: string, context: ToolContext): Promise<SearchRoot> {
  const handle = await openDirectory(path, context);
  const prefix = Buffer.from(path === '/' ? '/' : `${path}/`);
  // Only a walk from the root meets them; a directory of the same name elsewhere is an ordinary one.
  const virtual = path === '/' ? VIRTUAL_ROOTS.map((root) => `--glob=!${root}`) : [];
  return {
    handle,
    isFile: false,
    cwd: process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path,
    args: [...virtual, '--', '.'],
    toPath: (record) => Buffer.concat([prefix, record.subarray('./'.length)]),
  };
}

/** A path by which another process of this user reaches the opened file itself. Only Linux has one. */
export function descriptorPath(handle: FileHandle, path: string): string {
  return process.platform === 'linux' ? `/proc/${process.pid}/fd/${handle.fd}` : path;
}

/** What cannot be looked at is left to the opening, which says why. */
function isDirectory(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}
