import * as z from 'zod';
import { ReinsError } from '../base/reins-error.ts';
import { BOM, requireText, splitBom } from './decode-text.ts';
import { normalizeLineEndings } from './line-endings.ts';
import { MAX_WHOLE_FILE_BYTES, readReplaceableFile } from './read-whole-file.ts';
import { findOccurrences, replaceText } from './replace-text.ts';
import { requireUnchanged } from './require-unchanged.ts';
import { requireWritable } from './require-writable.ts';
import { resolvePath } from './resolve-path.ts';
import { defineChangingTool } from './tool.ts';
import { wellFormedText } from './well-formed-text.ts';

/** How many places an ambiguous match is reported with. */
const MAX_REPORTED_LINES = 5;

export const editTool = defineChangingTool({
  name: 'Edit',
  description:
    'Replaces exact text in a file of the write root. old_string has to occur once, or replace_all be true. Line endings are matched either way and kept; indentation and trailing spaces count. Refused when the file changed since this session read it.',
  input: z.strictObject({
    file_path: wellFormedText.describe(
      'File to change; relative paths start at the working directory.',
    ),
    old_string: wellFormedText
      .min(1)
      .describe('Text to replace, exactly as the file has it, without line numbers.'),
    new_string: wellFormedText.describe('Text to put in its place.'),
    replace_all: z.boolean().optional().describe('Replace every occurrence. Default false.'),
  }),
  async prepare(input, context) {
    const path = await resolvePath(input.file_path, context);
    requireWritable(path, context);
    if (input.old_string === input.new_string) {
      throw new ReinsError(
        'edit_changes_nothing',
        'old_string and new_string are equal; nothing would change.',
      );
    }
    const file = await readReplaceableFile(path, context);
    requireUnchanged(path, file.bytes, context);
    requireText(file.bytes, path);
    const { bom, text } = splitBom(file.bytes.toString('utf8'));
    const [oldText, newText] = withoutBom(bom, input.old_string, input.new_string);
    const all = input.replace_all === true;
    const times = requireOccurrences(path, text, oldText, all);
    requireRoom(path, file.bytes.length, times, oldText, newText);
    const replaced = replaceText(text, oldText, newText);
    const after = bom ? Buffer.concat([Buffer.from(BOM), replaced.bytes]) : replaced.bytes;
    if (after.equals(file.bytes)) {
      throw new ReinsError(
        'edit_changes_nothing',
        'old_string and new_string differ in line endings alone, which are kept as the file has them; nothing would change.',
      );
    }
    const what =
      replaced.count === 1 ? 'Replaced 1 occurrence' : `Replaced ${replaced.count} occurrences`;
    return {
      path,
      before: { bytes: file.bytes, mode: file.mode },
      after,
      answer: {
        text: `${what} in ${path}, first at line ${replaced.firstLine}.`,
        truncated: false,
      },
    };
  },
});

/** Where the file has a byte order mark, a text that begins with one means the start of the file. */
function withoutBom(bom: boolean, oldText: string, newText: string): [string, string] {
  const old = splitBom(oldText);
  return bom && old.bom ? [old.text, splitBom(newText).text] : [oldText, newText];
}

/** Throws `file_too_large` before a replacement is made that could not be changed again, or held in memory. */
function requireRoom(
  path: string,
  size: number,
  times: number,
  oldText: string,
  newText: string,
): void {
  const growth = Buffer.byteLength(newText) - Buffer.byteLength(oldText);
  // A line ending of the file can be a byte longer than the one in the text.
  const endings = newText.split('\n').length - 1;
  if (size + times * growth <= MAX_WHOLE_FILE_BYTES - Math.max(0, times * endings)) return;
  throw new ReinsError(
    'file_too_large',
    `${path} would grow beyond ${MAX_WHOLE_FILE_BYTES} bytes, the limit for a file that is changed; replace fewer occurrences or shorten new_string.`,
  );
}

/** Returns how often the text occurs. Throws `text_not_found` or `text_not_unique`. */
function requireOccurrences(path: string, text: string, oldText: string, all: boolean): number {
  const folded = normalizeLineEndings(text).text;
  const needle = oldText.replaceAll('\r\n', '\n');
  // Occurrences that overlap are several places all the same, when one of them is meant.
  const found =
    needle === ''
      ? []
      : all
        ? findOccurrences(folded, needle, needle.length, Number.POSITIVE_INFINITY)
        : findOccurrences(folded, needle, 1, 1_000);
  if (found.length === 0) {
    throw new ReinsError(
      'text_not_found',
      `old_string does not occur in ${path}; Read the lines around it and copy them exactly, without line numbers.`,
    );
  }
  if (all || found.length === 1) return found.length;
  const lines = found
    .slice(0, MAX_REPORTED_LINES)
    .map((at) => folded.slice(0, at).split('\n').length);
  throw new ReinsError(
    'text_not_unique',
    `old_string occurs ${found.length} times in ${path} (first at lines ${lines.join(', ')}); add surrounding lines to make it unique, or set replace_all to true.`,
  );
}
