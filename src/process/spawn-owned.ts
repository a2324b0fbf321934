import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
}

export type PipedChild = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts a command as leader of a process group of its own, with all three streams piped. */
export function spawnOwned(command: Command): PipedChild {
  return spawn(command.file, [...command.args], {
    cwd: command.cwd,
    env: { ...command.env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Resolves with the exit of a child, or with the error that kept it from starting. */
export function childEnd(child: ChildProcess): Promise<{
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly error?: Error;
}> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ exitCode: null, signal: null, error }));
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
}
