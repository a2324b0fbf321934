import * as z from 'zod';
import { ReinsError } from '../base/reins-error.ts';
import { joinBom, requireText, splitBom } from './decode-text.ts';
import { normalizeLineEndings } from './line-endings.ts';
import { readReplaceableFile } from './read-whole-file.ts';
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
    requireOccurrences(path, text, input.old_string, input.replace_all === true);
    const replaced = replaceText(text, input.old_string, input.new_string);
    const times =
      replaced.count === 1 ? 'Replaced 1 occurrence' : `Replaced ${replaced.count} occurrences`;
    return {
      path,
      before: { bytes: file.bytes, mode: file.mode },
      after: Buffer.from(joinBom(bom, replaced.text), 'utf8'),
      answer: {
        text: `${times} in ${path}, first at line ${replaced.firstLine}.`,
        truncated: false,
      },
    };
  },
});

function requireOccurrences(path: string, text: string, oldText: string, all: boolean): void {
  const folded = normalizeLineEndings(text).text;
  const found = findOccurrences(folded, oldText.replaceAll('\r\n', '\n'), all ? 1 : 1_000);
  if (found.length === 0) {
    throw new ReinsError(
      'text_not_found',
      `old_string does not occur in ${path}; Read the lines around it and copy them exactly, without line numbers.`,
    );
  }
  if (all || found.length === 1) return;
  const lines = found
    .slice(0, MAX_REPORTED_LINES)
    .map((at) => folded.slice(0, at).split('\n').length);
  throw new ReinsError(
    'text_not_unique',
    `old_string occurs ${found.length} times in ${path} (first at lines ${lines.join(', ')}); add surrounding lines to make it unique, or set replace_all to true.`,
  );
}
