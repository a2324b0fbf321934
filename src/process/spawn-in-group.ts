import { type ChildProcess, spawn } from 'node:child_process';
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
