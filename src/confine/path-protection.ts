import type { Stats } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isInside } from '../base/is-inside.ts';
import { matchesName } from './match-name.ts';
import { HARMLESS_NAMES, PROTECTED_PATHS, WRITE_PROTECTED_PATHS } from './protected-path-table.ts';
import { namesOf } from './real-name.ts';
import { inodeKey, type ProtectedFile, scanProtectedFiles } from './scan-protected-files.ts';

/** What a user adds to the built-in table, and what of it the user has opened on purpose. */
export interface ProtectionSettings {
  readonly closed: readonly string[];
  /** Patterns of the table, or paths, that are open all the same. Every session's state shows them. */
  readonly opened: readonly string[];
}

export interface PathProtection {
  /** Why `path` (absolute, normalised, free of symbolic links) is closed, or undefined when it is open. */
  reasonFor(path: string): string | undefined;
  /** The same for a file that was reached under an unprotected name: hard links and targets of links count. */
  reasonForFile(stat: Pick<Stats, 'dev' | 'ino'>): string | undefined;
  /** Why a path that may be read is not to be changed. */
  writeReasonFor(path: string): string | undefined;
  /** Every closed place by its path, there or not: named, behind a symbolic link, and reached from inside one. */
  closedPlaces(): string[];
  /** Forgets what was looked up, so that the next question is answered by what is there now. */
  refresh(): void;
  /** Protected files that have further names somewhere. */
  hardLinkedFiles(): ProtectedFile[];
  /** Names that are closed wherever they are. */
  readonly namePatterns: readonly string[];
  readonly opened: readonly string[];
}

const OWN_STATE = 'state of Reins';
/** How long a look through the protected directories is remembered, in milliseconds; keys are rarely made within it. */
const INODE_CACHE_MS = 5_000;
/** How long it is remembered where the symbolic links among the protected places lead, in milliseconds. */
const PLACE_CACHE_MS = 500;

/** Protection for one user's home directory and Reins' own state. */
export function createPathProtection(
  home: string,
  stateDirectory: string,
  platform: NodeJS.Platform,
  settings: ProtectionSettings,
): PathProtection {
  const fold = (path: string): string => (platform === 'darwin' ? path.toLowerCase() : path);
  const expand = (pattern: string): string =>
    pattern.startsWith('~/')
      ? resolve(home, pattern.slice(2))
      : pattern.startsWith('/')
        ? resolve(pattern)
        : pattern;
  const opened = settings.opened.map(expand);
  const entries = [
    ...PROTECTED_PATHS.filter((entry) => entry.platform === 'any' || entry.platform === platform),
    ...settings.closed.map((pattern) => ({ pattern, reason: 'closed by the user', byInode: true })),
  ]
    .map((entry) => ({ ...entry, pattern: expand(entry.pattern) }))
    .filter((entry) => !opened.includes(entry.pattern));
  const places = [
    { path: stateDirectory, reason: OWN_STATE },
    ...entries
      .filter((entry) => entry.pattern.includes('/'))
      .map((entry) => ({ path: entry.pattern, reason: entry.reason })),
  ];
  const names = entries.filter((entry) => !entry.pattern.includes('/'));
  const scanned = entries
    .filter((entry) => entry.byInode && entry.pattern.includes('/'))
    .map((entry) => ({ path: entry.pattern, reason: entry.reason }));
  const writePlaces = WRITE_PROTECTED_PATHS.map((entry) => ({
    ...entry,
    pattern: expand(entry.pattern),
  })).filter((entry) => !opened.includes(entry.pattern));

  const isIn = (path: string, root: string): boolean => isInside(fold(path), fold(root));
  const isOpened = (path: string): boolean => opened.some((root) => isIn(path, root));
  const trees = remember(PLACE_CACHE_MS, () =>
    places.flatMap(({ path, reason }) => namesOf(path).map((name) => ({ path: name, reason }))),
  );
  const files = remember(INODE_CACHE_MS, () => {
    const found = scanProtectedFiles(scanned).filter((file) => !isOpened(file.path));
    return { found, inodes: new Map(found.map((file) => [inodeKey(file), file.reason])) };
  });
  return {
    namePatterns: names.map((entry) => entry.pattern),
    opened: settings.opened,
    reasonFor(path) {
      const tree = trees().find((place) => isIn(path, place.path));
      // Reins' own state cannot be opened, whatever is above it.
      if (tree?.reason === OWN_STATE) return tree.reason;
      if (isOpened(path)) return undefined;
      if (tree !== undefined) return tree.reason;
      const name = fold(basename(path));
      if (HARMLESS_NAMES.includes(name)) return undefined;
      return names.find((entry) => matchesName(name, fold(entry.pattern)))?.reason;
    },
    reasonForFile: (stat) => files().inodes.get(inodeKey(stat)),
    writeReasonFor(path) {
      const parts = path.split('/');
      return writePlaces.find(({ pattern }) =>
        pattern.includes('/')
          ? isIn(path, pattern)
          : parts.some((part) => fold(part) === fold(pattern)),
      )?.reason;
    },
    closedPlaces() {
      const open = trees().filter(({ path, reason }) => reason === OWN_STATE || !isOpened(path));
      const all = [...open.map(({ path }) => path), ...files().found.map(({ path }) => path)];
      return [...new Set(all)];
    },
    refresh() {
      trees.forget();
      files.forget();
    },
    hardLinkedFiles: () => files().found.filter((file) => file.links > 1),
  };
}

/** A value that is made anew when it is asked for after `maxAgeMs`. */
function remember<Value>(maxAgeMs: number, make: () => Value): (() => Value) & { forget(): void } {
  let value: { readonly made: Value; readonly at: number } | undefined;
  const get = (): Value => {
    if (value === undefined || performance.now() - value.at > maxAgeMs) {
      value = { made: make(), at: performance.now() };
    }
    return value.made;
  };
  return Object.assign(get, {
    forget() {
      value = undefined;
    },
  });
}
