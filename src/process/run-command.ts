import { endGroup } from './end-group.ts';
import { type Command, childEnd, spawnOwned } from './spawn-owned.ts';

export interface CommandLimits {
  readonly timeoutMs: number;
  /** Bytes of stdout kept; a command that prints more is ended. */
  readonly maxBytes: number;
}

export interface CommandResult {
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly ended: 'exit' | 'timeout' | 'output_limit' | 'not_started';
}

/** Runs a short command to its end and returns what it printed. Stdin is empty; stderr is dropped. */
export async function runCommand(command: Command, limits: CommandLimits): Promise<CommandResult> {
  const child = spawnOwned(command);
  const chunks: Buffer[] = [];
  let size = 0;
  let ended: CommandResult['ended'] = 'exit';
  const stop = (reason: CommandResult['ended']): void => {
    if (ended !== 'exit') return;
    ended = reason;
    void endGroup(child);
  };
  child.stdin.on('error', () => {});
  child.stdin.end();
  child.stderr.resume();
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limits.maxBytes) stop('output_limit');
    else chunks.push(chunk);
  });
  const timer = setTimeout(() => stop('timeout'), limits.timeoutMs);
  const end = await childEnd(child);
  clearTimeout(timer);
  if (end.error !== undefined) ended = 'not_started';
  else if (ended === 'exit') await drained(child.stdout);
  return { exitCode: end.exitCode, stdout: Buffer.concat(chunks), ended };
}

/** Output can still be in the pipe when the exit is reported. */
function drained(stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => {
    if (!stream.readable) resolve();
    else stream.once('close', () => resolve());
  });
}
