import { readdirSync, readFileSync } from 'node:fs';

export interface SeenProcess {
  readonly pid: number;
  readonly parentPid: number;
  readonly command: string;
}

/**
 * What runs on this computer, found in a way of its own: by what the kernel lists, without what only waits to be
 * reaped and without the kernel's own threads.
 */
export function listAll(): SeenProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'latin1')
          .replaceAll('\0', ' ')
          .trim();
        const parentPid = Number(
          /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'latin1'))?.[1],
        );
        return command === '' ? [] : [{ pid: Number(name), parentPid, command }];
      } catch {
        return [];
      }
    });
}

/** The supervisors of an adapter. Its guard, a shell, names their program as well. */
export function supervisorsOf(adapter: number): SeenProcess[] {
  return listAll().filter(
    ({ parentPid, command }) =>
      parentPid === adapter && command.includes('supervisor.js') && !command.startsWith('/bin/sh'),
  );
}
