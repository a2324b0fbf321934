import { accessSync, constants, lstatSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { realName } from '../real-name.ts';
import type { FileSystemFacts } from './command-view.ts';

/** Looks at the file system as it is now. */
export function readFileSystemFacts(): FileSystemFacts {
  const linked = new Map<string, boolean>();
  return {
    mountPoints: readMountPoints(),
    leadsThroughLink(path) {
      const parent = dirname(path);
      const known = linked.get(parent) ?? realName(parent) !== parent;
      linked.set(parent, known);
      return known;
    },
    kindOf(path) {
      const stat = lstatSafely(path);
      if (stat === undefined) return 'missing';
      return stat.isDirectory() ? 'directory' : 'other';
    },
    isReachable: (path) =>
      lstatSafely(path) === undefined
        ? isAllowed(dirname(path), constants.W_OK)
        : isAllowed(path, constants.R_OK),
  };
}

function readMountPoints(): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map((point) =>
      point.replaceAll(/\\([0-7]{3})/g, (_match, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      ),
    );
}

function lstatSafely(path: string): ReturnType<typeof lstatSync> | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // EACCES or ENOTDIR: as good as missing for this user.
    return undefined;
  }
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
