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

/** The processes that run, or are ready to run, one run of an adapter. */
export interface SeenSupervision {
  /** The adapter's child, which adopts and reaps. */
  readonly adopter: SeenProcess;
  readonly supervisor: SeenProcess | undefined;
  readonly claude: SeenProcess | undefined;
}

/** The supervisions of an adapter. Its guard, a shell, names their program as well. */
export function supervisionsOf(adapter: number): SeenSupervision[] {
  const all = listAll();
  const childOf = (parent: SeenProcess | undefined) =>
    all.find(({ parentPid }) => parentPid === parent?.pid);
  return all
    .filter(
      ({ parentPid, command }) =>
        parentPid === adapter &&
        command.includes('supervisor.js') &&
        !command.startsWith('/bin/sh'),
    )
    .map((adopter) => {
      const supervisor = all.find(
        ({ parentPid, command }) => parentPid === adopter.pid && command.includes('supervisor.js'),
      );
      return { adopter, supervisor, claude: childOf(supervisor) };
    });
}
