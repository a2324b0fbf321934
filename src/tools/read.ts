import * as z from 'zod';
import { ReinsError } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';
import { requireText, splitBom } from './decode-text.ts';
import { LineCollector, type LineWindow, MAX_LINE_BYTES } from './line-collector.ts';
import { type OpenedFile, openRegularFile } from './open-verified.ts';
import { readToEnd } from './read-whole-file.ts';
import { MAX_RECEIPT_TEXT_BYTES } from './receipt-limit.ts';
import { resolvePath, toPathError } from './resolve-path.ts';
import { defineObservingTool, type Observation } from './tool.ts';
import { wellFormedText } from './well-formed-text.ts';

const MAX_LINES = 2_000;
/** Leaves room for the last line and the closing note. */
const MAX_WINDOW_BYTES = MAX_RECEIPT_TEXT_BYTES - MAX_LINE_BYTES - 1024;
const CHUNK_BYTES = 256 * 1024;
/** How long a look for a far line in a large file may take, in milliseconds. */
const SCAN_TIME_MS = 10_000;

export const readTool = defineObservingTool({
  name: 'Read',
  description:
    'Shows lines of a UTF-8 text file anywhere on the computer, each with its number and a tab in front. Long files come in windows; the closing note tells where to go on. Protected paths, .git, links, devices and binary files are refused.',
  input: z.strictObject({
    file_path: wellFormedText.describe(
      'File to read; relative paths start at the working directory.',
    ),
    offset: z.int().min(1).optional().describe('First line, counted from 1. Default 1.'),
    limit: z
      .int()
      .min(1)
      .max(MAX_LINES)
      .optional()
      .describe(`Number of lines. Default ${MAX_LINES}.`),
  }),
  async execute(input, context) {
    const path = await resolvePath(input.file_path, context);
    const request = {
      offset: input.offset ?? 1,
      limit: input.limit ?? MAX_LINES,
      maxBytes: MAX_WINDOW_BYTES,
    };
    const file = await openRegularFile(path, context);
    try {
      const whole = await readToEnd(file);
      const collector = new LineCollector(request);
      if (whole === undefined) await scan(file, collector, path);
      else {
        requireText(whole, path);
        collector.push(whole);
      }
      const observation = toObservation(path, request.offset, collector.finish());
      return whole === undefined
        ? observation
        : { ...observation, seen: { path, sha256: sha256(whole) } };
    } catch (error) {
      throw toPathError(error, path);
    } finally {
      await file.handle.close();
    }
  },
});

/** Reads a file that is too large to hold, only as far as the window needs. */
async function scan(file: OpenedFile, collector: LineCollector, path: string): Promise<void> {
  const started = performance.now();
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; ; ) {
    const { bytesRead } = await file.handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    const bytes = chunk.subarray(0, bytesRead);
    const zero = bytes.indexOf(0);
    if (zero >= 0) requireText(bytes.subarray(zero, zero + 1), path, position + zero);
    if (!collector.push(bytes)) return;
    position += bytesRead;
    if (performance.now() - started > SCAN_TIME_MS) {
      throw new ReinsError(
        'file_too_large',
        `${path} is so large that the lines asked for were not reached within ${SCAN_TIME_MS / 1000} s (${position} bytes); use a smaller offset, or SearchText to find the place.`,
      );
    }
  }
}

function toObservation(path: string, offset: number, window: LineWindow): Observation {
  const [first] = window.lines;
  if (first === undefined) {
    if (offset === 1) return { text: '[the file is empty]', truncated: false };
    throw new ReinsError(
      'offset_out_of_range',
      `offset is ${offset} and ${path} has ${window.total ?? 0} lines; use a smaller offset.`,
    );
  }
  const lines = window.lines.map((line) => {
    requireText(line.bytes, path, line.position);
    const decoded = line.bytes.toString('utf8');
    const text = line.number === 1 ? splitBom(decoded).text : decoded;
    const cut =
      line.cutFrom === null
        ? ''
        : ` [line cut: ${MAX_LINE_BYTES} of ${line.cutFrom} bytes shown; SearchText finds text within it]`;
    return `${line.number}\t${text}${cut}`;
  });
  const notes: string[] = [];
  if (window.next !== null) {
    notes.push(
      `lines ${offset}-${window.next - 1} shown; more follow, go on with offset ${window.next}`,
    );
  }
  if (window.crlf) notes.push('line endings are CRLF');
  if (window.next === null && !window.endsWithNewline)
    notes.push('no line feed at the end of the file');
  const note = notes.length === 0 ? '' : `\n[${notes.join('; ')}]`;
  return {
    text: lines.join('\n') + note,
    truncated: window.next !== null || window.lines.some((line) => line.cutFrom !== null),
  };
}
