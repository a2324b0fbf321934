import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { withinTime } from '../base/within-time.ts';
import { killGroup } from './end-group.ts';
import { openBothEnds } from './named-pipes.ts';
import { type Command, childEnd, feedInputs, furtherPipes } from './spawn-owned.ts';

/** Why a run ended. Whichever comes first counts. */
export type RunEnding = 'exit' | 'timeout' | 'stopped' | 'not_started';

/** What came out of one stream: all of it in `head`, or its two ends with a gap between. */
export interface CapturedStream {
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly totalBytes: number;
}

export interface BoundedRun {
  readonly ended: RunEnding;
  readonly exitCode: number | null;
  readonly durationMs: number;
  readonly stdout: CapturedStream;
  readonly stderr: CapturedStream;
}

export interface RunBounds {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Named pipes to take stdout and stderr through, made for this run alone. Without them the child gets sockets. */
  readonly outputPipes?: readonly [string, string];
  /** Told of the child when it has been started. */
  onStart?(child: ChildProcess): void;
}

/** Kept of the beginning and of the end of each stream, in bytes. */
const KEPT_BYTES = 48 * 1024;
/** How long output may still come after the child has been reaped, in milliseconds. */
const CLOSE_MS = 2_000;

/**
 * Runs a command to its end, at most `timeoutMs` long, with an empty stdin. Output beyond what is kept is read and
 * dropped, so that a command that prints without end neither blocks nor fills the memory. When the bounds end it, its
 * group is killed; that reaches every descendant if the command keeps them in a process namespace.
 */
export async function runBounded(command: Command, bounds: RunBounds): Promise<BoundedRun> {
  const started = performance.now();
  const pipes = bounds.outputPipes?.map(openBothEnds);
  const child = spawn(command.file, [...command.args], {
    cwd: command.cwd,
    env: { ...command.env },
    detached: true,
    stdio: [
      'ignore',
      pipes?.[0]?.writerFd ?? 'pipe',
      pipes?.[1]?.writerFd ?? 'pipe',
      ...furtherPipes(command),
    ],
  });
  for (const pipe of pipes ?? []) pipe.closeWriter();
  feedInputs(child, command);
  let ended: RunEnding = 'exit';
  const stop = (why: RunEnding): void => {
    if (ended !== 'exit' || child.exitCode !== null || child.signalCode !== null) return;
    ended = why;
    void killGroup(child);
  };
  const onAbort = (): void => stop('stopped');
  bounds.signal?.addEventListener('abort', onAbort);
  if (bounds.signal?.aborted) onAbort();
  const timer = setTimeout(() => stop('timeout'), bounds.timeoutMs);
  const streams = [pipes?.[0]?.reader ?? child.stdout, pipes?.[1]?.reader ?? child.stderr] as const;
  const [stdout, stderr] = [capture(streams[0]), capture(streams[1])];
  bounds.onStart?.(child);
  const end = await childEnd(child);
  clearTimeout(timer);
  bounds.signal?.removeEventListener('abort', onAbort);
  const durationMs = performance.now() - started;
  if (end.error !== undefined) ended = 'not_started';
  else await withinTime(Promise.all([stdout.closed, stderr.closed]), CLOSE_MS);
  for (const stream of [...child.stdio, ...streams]) stream?.destroy();
  return {
    ended,
    exitCode: end.exitCode,
    durationMs,
    stdout: stdout.taken(),
    stderr: stderr.taken(),
  };
}

function capture(stream: Readable | null): {
  readonly closed: Promise<void>;
  taken(): CapturedStream;
} {
  const head: Buffer[] = [];
  let tail: Buffer[] = [];
  let headBytes = 0;
  let tailBytes = 0;
  let totalBytes = 0;
  stream?.on('error', () => {});
  stream?.on('data', (chunk: Buffer) => {
    totalBytes += chunk.length;
    const room = KEPT_BYTES - headBytes;
    if (room > 0) {
      head.push(chunk.subarray(0, room));
      headBytes += Math.min(room, chunk.length);
    }
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length === 0) return;
    tail.push(rest);
    tailBytes += rest.length;
    if (tailBytes > 4 * KEPT_BYTES) {
      tail = [Buffer.from(Buffer.concat(tail).subarray(-KEPT_BYTES))];
      tailBytes = KEPT_BYTES;
    }
  });
  return {
    closed: new Promise((resolve) => {
      if (stream === null) resolve();
      else stream.once('close', () => resolve());
    }),
    taken: () => ({
      head: Buffer.concat(head),
      tail: Buffer.concat(tail).subarray(-KEPT_BYTES),
      totalBytes,
    }),
  };
}
