import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { spawnChild } from './spawn-child.ts';

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** What the child can read to its end from descriptors 3, 4 and so on. No argument list shows it. */
  readonly inputs?: readonly (string | Uint8Array)[];
  /**
   * Whether the child gets one more descriptor behind the inputs, which reaches its end when this process is gone,
   * however it went.
   */
  readonly lifeline?: true;
}

/** A child of this process, as whoever watches over it knows it. */
export type OwnedChild = ChildProcess;

export type PipedChild = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts a command as leader of a process group of its own, with all three streams piped. */
export function spawnOwned(command: Command): PipedChild {
  const child = spawnChild(command.file, command.args, {
    cwd: command.cwd,
    env: { ...command.env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...furtherPipes(command)],
  });
  if (!isPiped(child)) throw new Error('a stream of a new process is missing');
  feedInputs(child, command);
  return child;
}

function isPiped(child: ChildProcess): child is PipedChild {
  return child.stdin !== null && child.stdout !== null && child.stderr !== null;
}

/** What a child gets behind its three streams. */
export function furtherPipes(command: Command): 'pipe'[] {
  return [...(command.inputs ?? []), ...(command.lifeline ? [''] : [])].map(() => 'pipe');
}

/** Writes each input to its descriptor and closes it. A child that does not read one is not an error here. */
export function feedInputs(child: ChildProcess, command: Command): void {
  const inputs = command.inputs ?? [];
  const lifeline = child.stdio[3 + inputs.length];
  lifeline?.on('error', () => {});
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
