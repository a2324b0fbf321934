import { lstatSync } from 'node:fs';
import * as z from 'zod';
import { comparePaths } from './compare-paths.ts';
import { openDirectory, openRegularFile } from './open-verified.ts';
import { MAX_RECEIPT_TEXT_BYTES } from './receipt-limit.ts';
import { resolvePath } from './resolve-path.ts';
import { describeGaps, runRipgrep } from './ripgrep.ts';
import { decodeCursor, encodeCursor, type SearchPosition } from './search-cursor.ts';
import { showPath } from './show-path.ts';
import { defineObservingTool, type ToolContext } from './tool.ts';
import { wellFormedText } from './well-formed-text.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;
const MAX_CONTEXT_LINES = 10;
/** Longest part of a line that is shown, in columns. */
const MAX_COLUMNS = 400;
/** ripgrep holds a whole line in memory, and a file can be one line. */
const MAX_FILE_SIZE = '64M';
/** Leaves room for the closing note with its cursor. */
const MAX_LIST_BYTES = MAX_RECEIPT_TEXT_BYTES - 10 * 1024;

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
    const root = await resolvePath(input.path ?? '.', context);
    await requireSearchable(root, context);
    const { cursor, limit = DEFAULT_LIMIT, ...rest } = input;
    const question = { ...rest, path: root };
    const after = decodeCursor(cursor, question);
    const pattern = [
      '--fixed-strings',
      '--encoding=none',
      `--max-filesize=${MAX_FILE_SIZE}`,
      input.case_sensitive === false ? '--ignore-case' : '--case-sensitive',
      `--regexp=${input.query}`,
    ];
    const counts = await countMatches(pattern, root, after, limit, context);
    const page = await readMatches(pattern, counts.files, input.context_lines ?? 0, after, limit);
    const notes = [`${counts.lines} matching lines in ${counts.fileCount} files`];
    const more = page.shown < counts.linesAfter;
    if (more && page.last !== undefined) {
      notes.push(
        `${page.shown} shown; more follow with cursor ${encodeCursor(page.last, question)}`,
      );
    }
    if (counts.gaps !== undefined) notes.push(counts.gaps);
    return {
      text: `${page.text}[${notes.join('; ')}]`,
      truncated: more || counts.timedOut,
    };
  },
});

async function requireSearchable(root: string, context: ToolContext): Promise<void> {
  const isFile = lstatSync(root, { throwIfNoEntry: false })?.isFile() ?? false;
  const opened = isFile
    ? (await openRegularFile(root, context)).handle
    : await openDirectory(root, context);
  await opened.close();
}

interface FileCount {
  readonly path: string;
  readonly count: number;
}

interface MatchCounts {
  readonly lines: number;
  readonly fileCount: number;
  /** Matching lines in files at or after the cursor's, less those before it in its own file. */
  readonly linesAfter: number;
  /** The files that the next page comes from, in order. */
  readonly files: readonly string[];
  readonly gaps: string | undefined;
  readonly timedOut: boolean;
}

/**
 * First pass: how many matching lines each file has. It runs at ripgrep's own speed on every core, and what has to be
 * kept is bounded by a page: the files that come first in order and hold enough matches to fill it.
 */
async function countMatches(
  pattern: readonly string[],
  root: string,
  after: SearchPosition | undefined,
  limit: number,
  context: ToolContext,
): Promise<MatchCounts> {
  let kept: FileCount[] = [];
  let lines = 0;
  let fileCount = 0;
  let linesAfter = 0;
  const end = await runRipgrep(
    ['--count', '--null', '--with-filename', ...pattern, '--', root],
    '\n',
    joinRecords((record) => {
      const zero = record.indexOf('\0');
      const path = record.slice(0, zero);
      const count = Number(record.slice(zero + 1));
      if (!Number.isSafeInteger(count) || !isSearched(path, context)) return true;
      lines += count;
      fileCount += 1;
      if (after !== undefined && comparePaths(path, after.path) < 0) return true;
      linesAfter += count;
      kept.push({ path, count });
      if (kept.length > 4 * MAX_LIMIT) kept = firstFiles(kept, limit, after);
      return true;
    }),
  );
  const already = after === undefined ? 0 : await countUpTo(pattern, after);
  return {
    lines,
    fileCount,
    linesAfter: linesAfter - already,
    files: firstFiles(kept, limit, after).map((file) => file.path),
    gaps: describeGaps(end),
    timedOut: end.ended === 'timeout',
  };
}

/** The files that come first in order, as many as can be needed for `limit` matching lines after the cursor. */
function firstFiles(
  files: readonly FileCount[],
  limit: number,
  after: SearchPosition | undefined,
): FileCount[] {
  const ordered = [...files].sort((a, b) => comparePaths(a.path, b.path));
  let sum = 0;
  const needed = ordered.findIndex((file) => {
    sum += file.path === after?.path ? 0 : file.count;
    return sum > limit;
  });
  return needed < 0 ? ordered : ordered.slice(0, needed + 1);
}

/** Matching lines of the cursor's own file that were on earlier pages. */
async function countUpTo(pattern: readonly string[], after: SearchPosition): Promise<number> {
  let count = 0;
  await runRipgrep(
    [
      '--line-number',
      '--no-heading',
      '--no-filename',
      '--max-columns=1',
      ...pattern,
      '--',
      after.path,
    ],
    '\n',
    (record) => {
      const line = Number.parseInt(record.toString('latin1'), 10);
      if (line <= after.line) count += 1;
      return true;
    },
  );
  return count;
}

/** A name that is closed, or a file that has a second, closed name, is as if it did not exist. */
function isSearched(path: string, context: ToolContext): boolean {
  if (context.protection.reasonFor(path) !== undefined) return false;
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stat.nlink === 1) return true;
  return context.protection.reasonForFile(stat) === undefined;
}

interface MatchPage {
  readonly text: string;
  readonly shown: number;
  readonly last: SearchPosition | undefined;
}

/** Second pass: the lines themselves, from just the files that the page needs, in the order given. */
async function readMatches(
  pattern: readonly string[],
  files: readonly string[],
  contextLines: number,
  after: SearchPosition | undefined,
  limit: number,
): Promise<MatchPage> {
  let text = '';
  let shown = 0;
  let last: SearchPosition | undefined;
  if (files.length === 0) return { text, shown, last };
  const flags = [
    '--threads=1',
    '--line-number',
    '--no-heading',
    '--with-filename',
    '--null',
    `--max-columns=${MAX_COLUMNS}`,
    '--max-columns-preview',
    `--context=${contextLines}`,
  ];
  const records = joinRecords((record) => {
    const match = /^(.+)\0(\d+)([:-])(.*)$/su.exec(record);
    if (match === null) return true;
    const [, path = '', number, kind, content = ''] = match;
    const line = Number(number);
    if (path === after?.path && line <= after.line) return true;
    const full = shown >= limit || text.length > MAX_LIST_BYTES;
    if (kind === ':') {
      if (full) return false;
      shown += 1;
      last = { path, line };
    }
    if (text.length <= MAX_LIST_BYTES) {
      text += `${showPath(path)}${kind}${number}${kind}${content.replace(/\r$/, '')}\n`;
    }
    return true;
  });
  await runRipgrep([...flags, ...pattern, '--', ...files], '\n', records);
  return { text, shown, last };
}

/**
 * Puts records together that a line feed within a file name has split: each has one zero byte, between name and rest.
 * Separators between groups have none and come alone.
 */
function joinRecords(onRecord: (record: string) => boolean): (part: Buffer) => boolean {
  let carry = '';
  return (part) => {
    const text = part.toString('utf8');
    if (carry === '' && text === '--') return true;
    const record = carry + text;
    if (!record.includes('\0')) {
      carry = `${record}\n`;
      return true;
    }
    carry = '';
    return onRecord(record);
  };
}
