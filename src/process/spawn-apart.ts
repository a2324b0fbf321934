import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { withinTime } from '../base/within-time.ts';
import { spawnChild } from './spawn-child.ts';
import { type Command, childEnd } from './spawn-owned.ts';

/** Output can still be in the pipe when the exit is reported; a child's child may keep the pipe open for good. */
const DRAIN_MS = 200;

/**
 * Starts a command as leader of a session of its own, so that a signal which it sends to its own group does not reach
 * this process. It writes to this process' own stdout and stderr. Its stdin is empty, or holds `stdin` and ends. Throws
 * what keeps it from starting at once, such as arguments that are too long for the kernel; the rest comes as an event.
 */
export function spawnApart(command: Command, stdin: string | null): ChildProcess {
  const child = spawnChild(command.file, command.args, {
    cwd: command.cwd,
    env: { ...command.env },
    detached: true,
    stdio: [stdin === null ? 'ignore' : 'pipe', 'inherit', 'inherit'],
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end(stdin);
  return child;
}

/** How a program answered a question. */
export interface Answer {
  /** Null when it did not exit by itself. */
  readonly exitCode: number | null;
  readonly stdout: string;
  /** Why it could not be asked; null when it could. */
  readonly error: string | null;
}

/** Starts a command in the same way, with its output kept, and waits until it has exited or `given up`. */
export async function askProgram(
  command: Command,
  maxBytes: number,
  givenUp: Promise<unknown>,
): Promise<Answer> {
  let child: ChildProcess;
  try {
    child = spawnChild(command.file, command.args, {
      cwd: command.cwd,
      env: { ...command.env },
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch (error) {
    return { exitCode: null, stdout: '', error: describe(error) };
  }
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout?.on('error', () => {});
  child.stdout?.on('data', (chunk: Buffer) => {
    if (size <= maxBytes) chunks.push(chunk);
    size += chunk.length;
  });
  const closed = new Promise<void>((resolve) => child.stdout?.once('close', () => resolve()));
  let exitCode: number | null = null;
  let error: string | null = null;
  const end = childEnd(child).then((how) => {
    exitCode = how.exitCode;
    error = how.error === undefined ? null : describe(how.error);
  });
  await Promise.race([end, givenUp]);
  await withinTime(closed, DRAIN_MS);
  child.stdout?.destroy();
  return { exitCode, stdout: Buffer.concat(chunks).toString('utf8'), error };
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

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
