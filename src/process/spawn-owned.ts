import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** What the child can read to its end from descriptors 3, 4 and so on. No argument list shows it. */
  readonly inputs?: readonly (string | Uint8Array)[];
}

/** A child of this process, as whoever watches over it knows it. */
export type OwnedChild = ChildProcess;

export type PipedChild = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts a command as leader of a process group of its own, with all three streams piped. */
export function spawnOwned(command: Command): PipedChild {
  const inputs = command.inputs ?? [];
  const child = spawn(command.file, [...command.args], {
    cwd: command.cwd,
    env: { ...command.env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...inputs.map(() => 'pipe' as const)],
  });
  feedInputs(child, inputs);
  return child;
}

/** Writes each input to its descriptor and closes it. A child that does not read one is not an error here. */
export function feedInputs(child: ChildProcess, inputs: readonly (string | Uint8Array)[]): void {
  inputs.forEach((input, index) => {
    const stream = child.stdio[3 + index];
    if (stream === null || stream === undefined || !('write' in stream)) return;
    stream.on('error', () => {});
    stream.end(input);
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
