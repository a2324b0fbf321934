import { endGroup } from './end-group.ts';
import { type Command, childEnd, spawnOwned } from './spawn-owned.ts';

export interface StreamLimits {
  /** The byte that ends a record. */
  readonly separator: number;
  readonly timeoutMs: number;
  /** A record longer than this is dropped and counted. */
  readonly maxRecordBytes: number;
  /** Ends the command. */
  readonly signal?: AbortSignal | undefined;
}

export interface StreamEnd {
  readonly ended: 'exit' | 'timeout' | 'stopped' | 'aborted' | 'not_started';
  readonly exitCode: number | null;
  readonly stderr: string;
  readonly droppedRecords: number;
}

/** As much of stderr as is kept, in bytes. */
const MAX_STDERR_BYTES = 16 * 1024;

/**
 * Runs a command and hands each record of its output to `onRecord` as it comes, without the byte that ends
 * it. Returning false from it ends the command. Nothing is held beyond one record.
 */
export async function streamRecords(
  command: Command,
  limits: StreamLimits,
  onRecord: (record: Buffer) => boolean,
): Promise<StreamEnd> {
  const child = spawnOwned(command);
  let ended: StreamEnd['ended'] = 'exit';
  let stderr = '';
  let parts: Buffer[] = [];
  let size = 0;
  let droppedRecords = 0;
  const stop = (reason: StreamEnd['ended']): void => {
    if (ended !== 'exit') return;
    ended = reason;
    void endGroup(child);
  };
  child.stdin.on('error', () => {});
  child.stdin.end();
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text: string) => {
    if (stderr.length < MAX_STDERR_BYTES) stderr += text;
  });
  child.stdout.on('data', (chunk: Buffer) => {
    let start = 0;
    for (
      let end = chunk.indexOf(limits.separator);
      end >= 0;
      end = chunk.indexOf(limits.separator, start)
    ) {
      if (ended !== 'exit') return;
      const tail = chunk.subarray(start, end);
      if (size + tail.length > limits.maxRecordBytes) droppedRecords += 1;
      else if (!onRecord(parts.length === 0 ? tail : Buffer.concat([...parts, tail])))
        stop('stopped');
      parts = [];
      size = 0;
      start = end + 1;
    }
    size += chunk.length - start;
    if (size <= limits.maxRecordBytes) parts.push(chunk.subarray(start));
    else parts = [];
  });
  const closed = new Promise<void>((resolve) => child.stdout.once('close', () => resolve()));
  const timer = setTimeout(() => stop('timeout'), limits.timeoutMs);
  const onAbort = (): void => stop('aborted');
  limits.signal?.addEventListener('abort', onAbort);
  if (limits.signal?.aborted) onAbort();
  const end = await childEnd(child);
  if (end.error !== undefined) ended = 'not_started';
  else await closed;
  clearTimeout(timer);
  limits.signal?.removeEventListener('abort', onAbort);
  return { ended, exitCode: end.exitCode, stderr, droppedRecords };
}
