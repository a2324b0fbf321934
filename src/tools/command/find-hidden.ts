import { isUtf8 } from 'node:buffer';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { ReinsError } from '../../base/reins-error.ts';
import { findSystemProgram } from '../../confine/find-system-program.ts';
import type { PathProtection } from '../../confine/path-protection.ts';
import { realName } from '../../confine/real-name.ts';
import { inodeKey } from '../../confine/scan-protected-files.ts';
import { streamRecords } from '../../process/stream-records.ts';
import { runRipgrep } from '../ripgrep.ts';
import { showPathBytes } from '../show-path.ts';

/** Secrets by name that one directory may have; each is hidden by itself. */
const MAX_SECRETS = 5_000;
const LINK_SEARCH_MS = 20_000;
const MAX_PATH_BYTES = 8_192;

/**
 * Files that are closed by their name, in a directory and below. Throws `command_refused` when there are too many to
 * hide: a command is not started with some of them open.
 */
export async function findSecrets(
  directory: string,
  protection: PathProtection,
  leaveOut: readonly string[] = [],
): Promise<string[]> {
  const found: string[] = [];
  let unnamed: Buffer | undefined;
  const globs = [...protection.namePatterns, ...leaveOut.map((glob) => `!${glob}`)];
  const args = ['--files', '--null', ...globs.map((glob) => `--glob=${glob}`), '--', '.'];
  const end = await runRipgrep(args, directory, '\0', (record) => {
    if (!isUtf8(record)) {
      const parent = nameableParent(directory, record);
      if (parent === undefined) unnamed = record;
      else found.push(parent);
    } else {
      const path = join(directory, record.toString('utf8'));
      if (protection.reasonFor(path) !== undefined) found.push(path);
    }
    return found.length <= MAX_SECRETS && unnamed === undefined;
  });
  if (unnamed !== undefined) {
    throw new ReinsError(
      'command_refused',
      `${directory} holds a protected file under a name that is not UTF-8 (${showPathBytes(unnamed)}), which cannot be hidden from a command; rename it.`,
    );
  }
  // ripgrep ends with 0, with 1 for nothing found, or with 2 for something it could not read; else it was cut short.
  if (end.ended === 'exit' && end.exitCode === null) {
    throw new ReinsError(
      'command_refused',
      `The search of ${directory} for protected files broke off; run the command again.`,
    );
  }
  if (found.length > MAX_SECRETS || end.ended === 'timeout') {
    throw new ReinsError(
      'command_refused',
      `${directory} has ${found.length > MAX_SECRETS ? `more than ${MAX_SECRETS} files that are protected by their name` : 'too many files to look for protected ones in 20 s'}; run the command in a smaller directory.`,
    );
  }
  return found;
}

/** Symbolic links that are closed by their name, and what they lead to: ripgrep lists files alone. */
export async function findLinkedSecrets(
  directory: string,
  protection: PathProtection,
): Promise<string[]> {
  const find = findSystemProgram('find');
  if (find === undefined) return [];
  const found: string[] = [];
  await runFind(find, directory, 'l', '-name', protection.namePatterns, (path) => {
    if (protection.reasonFor(path) !== undefined) found.push(path, realName(path));
    return found.length < MAX_SECRETS;
  });
  return found;
}

/** What can be hidden of a path that is not UTF-8: the first directory whose own name can be told, with all in it. */
function nameableParent(directory: string, record: Buffer): string | undefined {
  const parts = splitPath(record);
  const odd = parts.findIndex((part) => !isUtf8(part));
  const told = parts.slice(0, odd).map((part) => part.toString('utf8'));
  const parent = join(directory, ...told);
  return parent === directory ? undefined : parent;
}

function splitPath(path: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let start = 0;
  for (let end = path.indexOf(47); end >= 0; end = path.indexOf(47, start)) {
    parts.push(path.subarray(start, end));
    start = end + 1;
  }
  return [...parts, path.subarray(start)].filter((part) => part.length > 0 && !part.equals(DOT));
}

const DOT = Buffer.from('.');

/** Further names, in these directories, of protected files that have several. */
export async function findHardLinks(
  directories: readonly string[],
  protection: PathProtection,
): Promise<string[]> {
  const files = protection.hardLinkedFiles();
  if (files.length === 0) return [];
  const find = findSystemProgram('find');
  if (find === undefined) {
    throw new ReinsError(
      'command_refused',
      `${files[0]?.path} is protected and has several names, and find is missing to look for the others; install findutils.`,
    );
  }
  const keys = new Set(files.map(inodeKey));
  const inodes = [...new Set(files.map(({ ino }) => String(ino)))];
  const found: string[] = [];
  for (const directory of directories) {
    await runFind(find, directory, 'f', '-inum', inodes, (path) => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat !== undefined && keys.has(inodeKey(stat))) found.push(path);
      return found.length < MAX_SECRETS;
    });
  }
  return found;
}

/** Hands over what is of this type (as `find -type` has it) and meets the test with any of the values. */
async function runFind(
  find: string,
  directory: string,
  type: 'f' | 'l',
  test: string,
  values: readonly string[],
  onPath: (path: string) => boolean,
): Promise<void> {
  const tests = values.flatMap((value, index) => [...(index === 0 ? [] : ['-o']), test, value]);
  await streamRecords(
    {
      file: find,
      args: [directory, '-xdev', '-type', type, '(', ...tests, ')', '-print0'],
      cwd: '/',
      env: {},
    },
    { separator: 0, timeoutMs: LINK_SEARCH_MS, maxRecordBytes: MAX_PATH_BYTES },
    (record) => onPath(record.toString('utf8')),
  );
}
