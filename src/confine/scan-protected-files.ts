import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';

/** Bounds one look through the protected directories. */
const MAX_FILES = 4_000;
const MAX_DEPTH = 3;

/** A file that is protected whatever name it is reached by. */
export interface ProtectedFile {
  readonly dev: number;
  readonly ino: number;
  /** Its real path: outside of the protected place where that holds a symbolic link to it. */
  readonly path: string;
  /** How many names it has. */
  readonly links: number;
  readonly reason: string;
}

export function inodeKey(stat: Pick<Stats, 'dev' | 'ino'>): string {
  return `${stat.dev}:${stat.ino}`;
}

/** The files in these places and behind the symbolic links in them. */
export function scanProtectedFiles(
  places: readonly { readonly path: string; readonly reason: string }[],
): ProtectedFile[] {
  const files: ProtectedFile[] = [];
  const visit = (path: string, reason: string, depth: number): void => {
    if (files.length >= MAX_FILES) return;
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile()) {
      const { dev, ino, nlink: links } = stat;
      files.push({ dev, ino, links, reason, path: realpathSync(path) });
    }
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
  for (const { path, reason } of places) visitSafely(path, reason, MAX_DEPTH);
  return files;
}
