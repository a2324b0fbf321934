import { basename } from 'node:path';
import * as z from 'zod';
import { comparePaths } from './compare-paths.ts';
import { isSearched } from './is-searched.ts';
import { MAX_RECEIPT_TEXT_BYTES } from './receipt-limit.ts';
import { resolvePath } from './resolve-path.ts';
import { describeGaps, runRipgrep } from './ripgrep.ts';
import { decodeCursor, encodeCursor } from './search-cursor.ts';
import { openTree } from './search-root.ts';
import { showPathBytes } from './show-path.ts';
import { defineObservingTool } from './tool.ts';
import { wellFormedText } from './well-formed-text.ts';

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 1_000;
/** Leaves room for the closing note with its cursor. */
const MAX_LIST_BYTES = MAX_RECEIPT_TEXT_BYTES - 8 * 1024;

export const findFilesTool = defineObservingTool({
  name: 'FindFiles',
  description:
    'Lists files below a directory anywhere on the computer, one absolute path a line, in path order, ignored and hidden files included. Filters are plain text. Leaves out .git, protected paths and symbolic links. A further page comes with the cursor that the closing note gives.',
  input: z.strictObject({
    directory: wellFormedText.optional().describe('Where to look. Default: the working directory.'),
    name_contains: wellFormedText
      .min(1)
      .max(256)
      .optional()
      .describe('Text in the file name, upper and lower case alike.'),
    extension: wellFormedText
      .min(1)
      .max(64)
      .optional()
      .describe('End of the file name after a dot, such as ts.'),
    max_depth: z
      .int()
      .min(1)
      .max(64)
      .optional()
      .describe('1 lists the directory itself alone. Default: no limit.'),
    limit: z
      .int()
      .min(1)
      .max(MAX_LIMIT)
      .optional()
      .describe(`Files a page. Default ${DEFAULT_LIMIT}.`),
    cursor: z.string().max(8192).optional().describe('From the note of an earlier page.'),
  }),
  async execute(input, context) {
    const directory = await resolvePath(input.directory ?? '.', context);
    const { cursor, limit = DEFAULT_LIMIT, ...filters } = input;
    const question = { ...filters, directory };
    const root = await openTree(directory, context);
    try {
      const after = decodeCursor(cursor, question);
      const matches = nameFilter(input.name_contains, input.extension);
      const page = new ListPage(limit);
      const depth = input.max_depth === undefined ? [] : [`--max-depth=${input.max_depth}`];
      const end = await runRipgrep(
        ['--files', '--null', '--sort=path', ...depth, ...root.args],
        root.cwd,
        '\0',
        (record) => {
          const path = root.toPath(record);
          if (after !== undefined && comparePaths(path, after.path) <= 0) return true;
          if (!matches(basename(path.toString('utf8'))) || !isSearched(path, context)) return true;
          return page.add(path);
        },
        context.stopping,
      );
      const gaps = describeGaps(end);
      const notes = [...gaps.notes];
      if (page.isFull && page.last !== undefined) {
        const next = encodeCursor({ path: page.last, line: 0 }, question);
        notes.unshift(`${page.lines.length} files shown; more follow with cursor ${next}`);
      }
      const list = page.lines.length === 0 ? '[no files found]' : page.lines.join('\n');
      return {
        text: notes.length === 0 ? list : `${list}\n[${notes.join('; ')}]`,
        truncated: page.isFull || gaps.incomplete,
      };
    } finally {
      await root.handle.close();
    }
  },
});

/** Paths until there are as many as were asked for, or as fit into an answer in the form in which they are shown. */
class ListPage {
  readonly lines: string[] = [];
  last: Buffer | undefined;
  /** Whether a path was left for the next page. */
  isFull = false;
  readonly #limit: number;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(path: Buffer): boolean {
    const line = showPathBytes(path);
    const bytes = Buffer.byteLength(line) + 1;
    const fits = this.lines.length < this.#limit && this.#bytes + bytes <= MAX_LIST_BYTES;
    // One path fits alone, however long it is, or there would be no way past it.
    if (!fits && this.lines.length > 0) {
      this.isFull = true;
      return false;
    }
    this.lines.push(line);
    this.last = path;
    this.#bytes += bytes;
    return true;
  }
}

function nameFilter(
  contains: string | undefined,
  extension: string | undefined,
): (name: string) => boolean {
  const fold = (text: string): string => text.normalize('NFC').toLowerCase();
  const part = fold(contains ?? '');
  const ending = extension === undefined ? '' : `.${fold(extension.replace(/^\./, ''))}`;
  return (name) => {
    const folded = fold(name);
    return folded.includes(part) && folded.endsWith(ending);
  };
}
