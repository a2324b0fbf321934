import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * A place under the name it was given and under its real one. Tools ask with real paths, while a home or a state
 * directory may be named through a symbolic link, and a place in them may be one.
 */
export function namesOf(path: string): string[] {
  const named = resolve(path);
  return [...new Set([named, realName(named)])];
}

/** The real path; of what does not exist yet, or may not be looked into, its parent's with the name behind it. */
export function realName(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realName(parent), basename(path));
  }
}
