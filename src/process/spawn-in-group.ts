import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Command } from './spawn-owned.ts';

/**
 * Starts a command in the process group of this process, which therefore stays the group's leader and pins its id. The
 * child writes to this process' own stdout and stderr. Its stdin is empty, or holds `stdin` and ends. Throws what
 * keeps it from starting at once, such as arguments that are too long for the kernel; the rest comes as an event.
 */
export function spawnInGroup(command: Command, stdin: string | null): ChildProcess {
  const child = spawn(command.file, [...command.args], {
    cwd: command.cwd,
    env: { ...command.env },
    stdio: [stdin === null ? 'ignore' : 'pipe', 'inherit', 'inherit'],
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end(stdin);
  return child;
}

/**
 * Lets go of stdout and stderr, so that whoever reads them sees their end with the last child and need not wait for
 * this process. Nothing may be printed here afterwards; it would go nowhere.
 */
export function giveUpOutput(): void {
  for (const fd of [1, 2]) {
    closeSync(fd);
    // The lowest free descriptor is taken, which is the one that has just been closed.
    openSync('/dev/null', 'w');
  }
}
