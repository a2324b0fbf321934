import type { FileHandle } from 'node:fs/promises';
import * as z from 'zod';
import { countMatches } from './count-matches.ts';
import { requireText } from './decode-text.ts';
import { readMatches } from './read-matches.ts';
import { resolvePath } from './resolve-path.ts';
import { decodeCursor, encodeCursor } from './search-cursor.ts';
import { openSearchRoot } from './search-root.ts';
import { defineObservingTool } from './tool.ts';
import { wellFormedText } from './well-formed-text.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;
const MAX_CONTEXT_LINES = 10;
/** ripgrep holds a whole line in memory, and a file can be one line. */
const MAX_FILE_SIZE = '64M';
/** How long a file that was named is looked through for zero bytes, in milliseconds. */
const BINARY_SCAN_MS = 5_000;
const CHUNK_BYTES = 256 * 1024;

export const searchTextTool = defineObservingTool({
  name: 'SearchText',
  description:
    'Finds lines that contain a literal text, in one file or below a directory anywhere on the computer, ignored and hidden files included. No regular expressions, no wildcards. Results are path:line:text in path order with the total number of matching lines. Leaves out .git, protected paths, symbolic links, binary files and files over 64 MiB.',
  input: z.strictObject({
    query: wellFormedText
      .min(1)
      .max(1_000)
      .refine((text) => !/[\n\r\0]/.test(text), 'has to be within one line')
      .describe('Literal text within one line.'),
    path: wellFormedText
      .optional()
      .describe('File or directory to search. Default: the working directory.'),
    case_sensitive: z.boolean().optional().describe('Default true.'),
    context_lines: z
      .int()
      .min(0)
      .max(MAX_CONTEXT_LINES)
      .optional()
      .describe('Lines shown around each match. Default 0.'),
    limit: z
      .int()
      .min(1)
      .max(MAX_LIMIT)
      .optional()
      .describe(`Matching lines a page. Default ${DEFAULT_LIMIT}.`),
    cursor: z.string().max(8192).optional().describe('From the note of an earlier page.'),
  }),
  async execute(input, context) {
    const path = await resolvePath(input.path ?? '.', context);
    const { cursor, limit = DEFAULT_LIMIT, ...rest } = input;
    const question = { ...rest, path };
    const root = await openSearchRoot(path, context);
    try {
      const after = decodeCursor(cursor, question);
      if (root.isFile) await requireNoZeroByte(root.handle, path);
      const pattern = [
        '--fixed-strings',
        '--encoding=none',
        `--max-filesize=${MAX_FILE_SIZE}`,
        input.case_sensitive === false ? '--ignore-case' : '--case-sensitive',
        `--regexp=${input.query}`,
      ];
      const counts = await countMatches(pattern, root, after, limit, context);
      const request = { contextLines: input.context_lines ?? 0, after, limit };
      const page = await readMatches(pattern, counts.files, request, context);
      const notes = [`${counts.lines} matching lines in ${counts.fileCount} files`];
      const lastFile = counts.files.at(-1);
      // Files that were counted and have lost their matches since can leave a page short; the next one goes on after them.
      const next = page.full
        ? page.last
        : counts.moreFiles && lastFile !== undefined
          ? { path: Buffer.from(lastFile), line: Number.MAX_SAFE_INTEGER }
          : undefined;
      if (next !== undefined) {
        const nextCursor = encodeCursor(next, question);
        notes.push(`${page.shown} shown; more follow with cursor ${nextCursor}`);
      }
      notes.push(...new Set([...counts.gaps.notes, ...page.gaps.notes]));
      return {
        text: `${page.text}[${notes.join('; ')}]`,
        truncated: next !== undefined || counts.gaps.incomplete || page.gaps.incomplete,
      };
    } finally {
      await root.handle.close();
    }
  },
});

/**
 * Throws `binary_file`. ripgrep leaves binary files out only when it came upon them itself; of one that it was told to
 * search it would count matches and show none.
 */
async function requireNoZeroByte(handle: FileHandle, path: string): Promise<void> {
  const started = performance.now();
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; performance.now() - started < BINARY_SCAN_MS; ) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    const zero = chunk.subarray(0, bytesRead).indexOf(0);
    if (zero >= 0) requireText(chunk.subarray(zero, zero + 1), path, position + zero);
    position += bytesRead;
  }
}
