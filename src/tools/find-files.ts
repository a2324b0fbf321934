import { basename } from 'node:path';
import * as z from 'zod';
import { comparePaths } from './compare-paths.ts';
import { openDirectory } from './open-verified.ts';
import { MAX_RECEIPT_TEXT_BYTES } from './receipt-limit.ts';
import { resolvePath } from './resolve-path.ts';
import { describeGaps, runRipgrep } from './ripgrep.ts';
import { decodeCursor, encodeCursor } from './search-cursor.ts';
import { showPath } from './show-path.ts';
import { defineObservingTool, type ToolContext } from './tool.ts';
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
    await (await openDirectory(directory, context)).close();
    const { cursor, limit = DEFAULT_LIMIT, ...filters } = input;
    const question = { ...filters, directory };
    const after = decodeCursor(cursor, question);
    const matches = nameFilter(input.name_contains, input.extension);
    const found: string[] = [];
    let bytes = 0;
    let more = false;
    const depth = input.max_depth === undefined ? [] : [`--max-depth=${input.max_depth}`];
    const end = await runRipgrep(
      ['--files', '--null', '--sort=path', ...depth, '--', directory],
      '\0',
      (record) => {
        const path = record.toString('utf8');
        if (!matches(basename(path)) || !isListed(path, context)) return true;
        if (after !== undefined && comparePaths(path, after.path) <= 0) return true;
        if (found.length >= limit || bytes >= MAX_LIST_BYTES) {
          more = true;
          return false;
        }
        found.push(path);
        bytes += Buffer.byteLength(path) + 1;
        return true;
      },
    );
    const notes: string[] = [];
    const last = found.at(-1);
    if (more && last !== undefined) {
      const next = encodeCursor({ path: last, line: 0 }, question);
      notes.push(`${found.length} files shown; more follow with cursor ${next}`);
    }
    const gaps = describeGaps(end);
    if (gaps !== undefined) notes.push(gaps);
    const list = found.length === 0 ? '[no files found]' : found.map(showPath).join('\n');
    return {
      text: notes.length === 0 ? list : `${list}\n[${notes.join('; ')}]`,
      truncated: more || end.ended === 'timeout',
    };
  },
});

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

function isListed(path: string, context: ToolContext): boolean {
  return context.protection.reasonFor(path) === undefined;
}
