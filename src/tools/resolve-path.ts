import { lstat, readdir } from 'node:fs/promises';
import { dirname, join, normalize, resolve } from 'node:path';
import { isInside } from '../base/is-inside.ts';
import { ReinsError } from '../base/reins-error.ts';
import { systemErrorCode } from '../base/system-error-code.ts';
import type { ToolContext } from './tool.ts';

/** Linux's PATH_MAX; a longer path cannot be opened anyway. */
const MAX_PATH_BYTES = 4096;
/** Where the kernel shows itself as files. Reading there can block, have effects, or tell of other processes. */
export const VIRTUAL_ROOTS: readonly string[] = ['/proc', '/sys', '/dev'];

/**
 * The absolute, normalised path that an input names. Where no entry has exactly that name, one that differs only in
 * Unicode normalisation is taken, so that a file is found in either form and never made a second time. Throws for
 * places that are closed to every tool. Symbolic links are left for whoever opens the path.
 */
export async function resolvePath(named: string, context: ToolContext): Promise<string> {
  if (named === '' || named.includes('\0')) {
    throw new ReinsError(
      'path_invalid',
      'The path is empty or contains a zero byte; give a file path.',
    );
  }
  const path = normalize(resolve(context.workingDirectory, named)).replace(/(?<=.)\/$/, '');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new ReinsError(
      'path_invalid',
      `The path is longer than ${MAX_PATH_BYTES} bytes; shorten it.`,
    );
  }
  requireOpenPlace(path, context);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is the ASCII one on purpose
  if (/^[\x00-\x7f]*$/.test(path)) return path;
  const existing = await matchNormalisation(path);
  requireOpenPlace(existing, context);
  return existing;
}

/** Throws `virtual_filesystem`, `git_directory` or `protected_path` for a path that no tool may touch. */
export function requireOpenPlace(path: string, context: ToolContext): void {
  if (VIRTUAL_ROOTS.some((root) => isInside(path, root))) {
    throw new ReinsError(
      'virtual_filesystem',
      `${path} is in a virtual file system of the kernel, which is closed; only ordinary files can be used.`,
    );
  }
  if (path.split('/').some((part) => part.toLowerCase() === '.git')) {
    throw new ReinsError(
      'git_directory',
      `${path} is inside a .git directory, which is closed to file tools; work on the checked-out files instead.`,
    );
  }
  const reason = context.protection.reasonFor(path);
  if (reason !== undefined) throw protectedPath(path, reason);
}

export function protectedPath(path: string, reason: string): ReinsError {
  return new ReinsError(
    'protected_path',
    `${path} is protected (${reason}) and closed to this session; ask the person at the computer for what you need from it.`,
  );
}

async function matchNormalisation(path: string): Promise<string> {
  if (await exists(path)) return path;
  let current = '/';
  for (const part of path.split('/').slice(1)) {
    const exact = join(current, part);
    current = (await exists(exact))
      ? exact
      : join(current, (await findTwin(current, part)) ?? part);
  }
  return current;
}

async function findTwin(directory: string, name: string): Promise<string | undefined> {
  const form = name.normalize('NFC');
  const entries = await readdir(directory).catch((): string[] => []);
  const twins = entries.filter((entry) => entry.normalize('NFC') === form);
  return twins.length === 1 ? twins[0] : undefined;
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** A coded error for a system error that opening or reading `path` met. */
export function toPathError(error: unknown, path: string): ReinsError {
  if (error instanceof ReinsError) return error;
  switch (systemErrorCode(error)) {
    case 'ENOENT':
      return new ReinsError(
        'path_not_found',
        `${path} does not exist; FindFiles with directory ${dirname(path)} lists what is there.`,
      );
    case 'ENOTDIR':
      return new ReinsError(
        'path_not_found',
        `A part of ${path} is a file, not a directory; check the path.`,
      );
    case 'EACCES':
    case 'EPERM':
      return new ReinsError(
        'permission_denied',
        `The operating system denies access to ${path}; on macOS, allow the terminal under Privacy & Security > Full Disk Access, elsewhere change the permissions of the file.`,
      );
    case 'ELOOP':
      return new ReinsError(
        'symbolic_link',
        `${path} is a symbolic link; name the file that it leads to.`,
      );
    case 'ENAMETOOLONG':
      return new ReinsError(
        'path_invalid',
        `A part of ${path} is longer than a file name may be; shorten it.`,
      );
    default:
      return new ReinsError(
        'path_invalid',
        `${path} cannot be opened (${systemErrorCode(error) ?? 'unknown reason'}); check it on the computer.`,
        { cause: error },
      );
  }
}
