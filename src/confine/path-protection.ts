import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { HARMLESS_NAMES, PROTECTED_PATHS } from './protected-path-table.ts';

export interface PathProtection {
  /** Why `path` (absolute, normalised, free of symbolic links) is closed, or undefined when it is open. */
  reasonFor(path: string): string | undefined;
  /** The same for a file that was reached under an unprotected name: hard links and targets of links count. */
  reasonForFile(stat: Pick<Stats, 'dev' | 'ino'>): string | undefined;
}

/** How long the inodes of protected files are remembered, in milliseconds; keys are rarely made within it. */
const INODE_CACHE_MS = 5_000;
/** Bounds one look through the protected directories. */
const MAX_INODES = 4_000;
const MAX_DEPTH = 3;

/** Protection for one user's home directory and Reins' own state. */
export function createPathProtection(
  home: string,
  stateDirectory: string,
  platform: NodeJS.Platform,
): PathProtection {
  const fold = (path: string): string => (platform === 'darwin' ? path.toLowerCase() : path);
  const entries = PROTECTED_PATHS.filter(
    (entry) => entry.platform === 'any' || entry.platform === platform,
  );
  const trees = [
    { path: stateDirectory, reason: 'state of Reins' },
    ...entries
      .filter((entry) => entry.pattern.includes('/'))
      .map((entry) => ({ path: expandHome(entry.pattern, home), reason: entry.reason })),
  ].flatMap(({ path, reason }) => namesOf(path).map((name) => ({ path: fold(name), reason })));
  const names = entries
    .filter((entry) => !entry.pattern.includes('/'))
    .map((entry) => ({ matches: nameMatcher(fold(entry.pattern)), reason: entry.reason }));
  const scanned = entries
    .filter((entry) => entry.byInode)
    .map((entry) => ({ path: expandHome(entry.pattern, home), reason: entry.reason }));

  let inodes = new Map<string, string>();
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    reasonFor(path) {
      const folded = fold(path);
      const tree = trees.find(({ path: root }) => folded === root || folded.startsWith(`${root}/`));
      if (tree !== undefined) return tree.reason;
      const name = basename(folded);
      if (HARMLESS_NAMES.includes(name)) return undefined;
      return names.find(({ matches }) => matches(name))?.reason;
    },
    reasonForFile(stat) {
      if (performance.now() - readAt > INODE_CACHE_MS) {
        inodes = readInodes(scanned);
        readAt = performance.now();
      }
      return inodes.get(inodeKey(stat));
    },
  };
}

function expandHome(pattern: string, home: string): string {
  return pattern.startsWith('~/') ? join(home, pattern.slice(2)) : pattern;
}

/**
 * A place under the name it was given and under its real one. Tools ask with real paths, while a home or a state
 * directory may be named through a symbolic link, and a place in them may be one.
 */
function namesOf(path: string): string[] {
  const named = resolve(path);
  return [...new Set([named, realName(named)])];
}

/** The real path; of what does not exist yet, or may not be looked into, its parent's with the name behind it. */
function realName(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realName(parent), basename(path));
  }
}

function nameMatcher(pattern: string): (name: string) => boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return (name) => name === pattern;
  const before = pattern.slice(0, star);
  const after = pattern.slice(star + 1);
  return (name) =>
    name.length >= before.length + after.length && name.startsWith(before) && name.endsWith(after);
}

function inodeKey(stat: Pick<Stats, 'dev' | 'ino'>): string {
  return `${stat.dev}:${stat.ino}`;
}

function readInodes(
  roots: readonly { readonly path: string; readonly reason: string }[],
): Map<string, string> {
  const inodes = new Map<string, string>();
  const visit = (path: string, reason: string, depth: number): void => {
    if (inodes.size >= MAX_INODES) return;
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile()) inodes.set(inodeKey(stat), reason);
    if (!stat?.isDirectory() || depth === 0) return;
    for (const name of readdirSync(path)) visitSafely(join(path, name), reason, depth - 1);
  };
  const visitSafely = (path: string, reason: string, depth: number): void => {
    try {
      visit(path, reason, depth);
    } catch {
      // What this user may not look into, this user's session may not read either.
    }
  };
  for (const { path, reason } of roots) visitSafely(path, reason, MAX_DEPTH);
  return inodes;
}
