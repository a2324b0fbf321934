import type { BoundedRun, CapturedStream } from '../../process/run-bounded.ts';
import { showBytes } from '../show-path.ts';

/** All of a result's text; a receipt takes 48 KiB. */
const MAX_OUTPUT_BYTES = 40 * 1024;
/** What stderr may take of it when stdout needs the rest. */
const MIN_STDERR_BYTES = 12 * 1024;

export interface FormattedOutput {
  readonly text: string;
  readonly truncated: boolean;
}

/** Both streams of a run, control characters and bytes that are not UTF-8 made visible, long ones cut in the middle. */
export function formatOutput(run: BoundedRun): FormattedOutput {
  const wanted = shownSize(run.stderr);
  const stderrLimit = Math.max(
    MIN_STDERR_BYTES,
    MAX_OUTPUT_BYTES - Math.min(shownSize(run.stdout), MAX_OUTPUT_BYTES),
  );
  const stdout = formatStream(run.stdout, MAX_OUTPUT_BYTES - Math.min(wanted, stderrLimit));
  const stderr = formatStream(run.stderr, stderrLimit);
  const parts = [
    ...(run.stdout.totalBytes === 0 ? [] : [`--- stdout\n${stdout.text.replace(/\n$/, '')}`]),
    ...(run.stderr.totalBytes === 0 ? [] : [`--- stderr\n${stderr.text.replace(/\n$/, '')}`]),
  ];
  return { text: parts.join('\n'), truncated: stdout.truncated || stderr.truncated };
}

function shownSize(stream: CapturedStream): number {
  return Buffer.byteLength(showBytes(stream.head)) + Buffer.byteLength(showBytes(stream.tail));
}

function formatStream(stream: CapturedStream, maxBytes: number): FormattedOutput {
  const { head, tail, totalBytes } = stream;
  const whole = Buffer.concat([head, tail]);
  if (totalBytes === whole.length && shownSize(stream) <= maxBytes) {
    return { text: showBytes(whole), truncated: false };
  }
  const half = Math.floor(maxBytes / 2);
  const start = fitting(totalBytes === whole.length ? whole : head, half, 'head');
  const end = fitting(totalBytes === whole.length ? whole : tail, half, 'tail');
  const gap = totalBytes - start.length - end.length;
  return {
    text: `${showBytes(start)}\n[${gap} bytes left out here; the stream has ${totalBytes}; narrow the command or filter its output to see them]\n${showBytes(end)}`,
    truncated: true,
  };
}

/** As much of one end as fits when it is shown, cut at a line where there is one close by. */
function fitting(bytes: Buffer, maxBytes: number, end: 'head' | 'tail'): Buffer {
  const cut = (length: number): Buffer =>
    end === 'head' ? bytes.subarray(0, length) : bytes.subarray(bytes.length - length);
  let low = 0;
  let high = Math.min(bytes.length, maxBytes);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (Buffer.byteLength(showBytes(cut(middle))) <= maxBytes) low = middle;
    else high = middle - 1;
  }
  const part = cut(low);
  const line = end === 'head' ? part.lastIndexOf(10) : part.indexOf(10);
  if (line < 0) return part;
  if (end === 'head') return line > part.length / 2 ? part.subarray(0, line) : part;
  return line < part.length / 2 ? part.subarray(line + 1) : part;
}
