import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Where systems put programs that belong to them and not to a user. No search path of anybody's is asked. */
export const SYSTEM_DIRECTORIES: readonly string[] = [
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
  '/usr/local/bin',
  '/run/current-system/sw/bin',
];

/** The absolute path of a program of the system, or undefined. */
export function findSystemProgram(name: string): string | undefined {
  return SYSTEM_DIRECTORIES.map((directory) => join(directory, name)).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
