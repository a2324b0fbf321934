import { lstat } from 'node:fs/promises';
import * as z from 'zod';
import { ReinsError } from '../base/reins-error.ts';
import { joinBom, splitBom } from './decode-text.ts';
import { uniformLineEnding, withLineEnding } from './line-endings.ts';
import { MAX_WHOLE_FILE_BYTES, readReplaceableFile } from './read-whole-file.ts';
import { requireUnchanged } from './require-unchanged.ts';
import { requireWritable } from './require-writable.ts';
import { resolvePath } from './resolve-path.ts';
import { defineChangingTool, type FileChange, type ToolContext } from './tool.ts';
import { wellFormedText } from './well-formed-text.ts';

export const writeTool = defineChangingTool({
  name: 'Write',
  description:
    'Creates or replaces one file of the write root with the text given, missing directories included. Suits new files and full rewrites; Edit is the tool for small changes. A byte order mark and CRLF line endings of a replaced file are kept. Refused when the file changed since this session read it.',
  input: z.strictObject({
    file_path: wellFormedText.describe(
      'File to write; relative paths start at the working directory.',
    ),
    content: wellFormedText.describe('The whole new content.'),
  }),
  async prepare(input, context) {
    const path = await resolvePath(input.file_path, context);
    requireWritable(path, context);
    return (await isMissing(path))
      ? createFile(path, input.content)
      : replaceFile(path, input.content, context);
  },
});

function createFile(path: string, content: string): FileChange {
  const after = toBytes(path, content);
  return {
    path,
    before: null,
    after,
    answer: { text: `Created ${path} (${after.length} bytes).`, truncated: false },
  };
}

async function replaceFile(
  path: string,
  content: string,
  context: ToolContext,
): Promise<FileChange> {
  const file = await readReplaceableFile(path, context);
  requireUnchanged(path, file.bytes, context);
  const old = splitBom(file.bytes.toString('utf8'));
  const keepCrlf = uniformLineEnding(old.text) === '\r\n' && !content.includes('\r');
  const styled = withLineEnding(splitBom(content).text, keepCrlf ? '\r\n' : '\n');
  const after = toBytes(path, joinBom(old.bom || content.startsWith('\ufeff'), styled));
  const kept = [
    ...(old.bom ? ['byte order mark'] : []),
    ...(keepCrlf ? ['CRLF line endings'] : []),
  ];
  const note = kept.length === 0 ? '' : `, its ${kept.join(' and ')} kept`;
  return {
    path,
    before: { bytes: file.bytes, mode: file.mode },
    after,
    answer: { text: `Replaced ${path} (${after.length} bytes${note}).`, truncated: false },
  };
}

function toBytes(path: string, content: string): Buffer {
  const bytes = Buffer.from(content, 'utf8');
  if (bytes.length <= MAX_WHOLE_FILE_BYTES) return bytes;
  throw new ReinsError(
    'file_too_large',
    `content for ${path} is ${bytes.length} bytes and the limit is ${MAX_WHOLE_FILE_BYTES}; split it into several files.`,
  );
}

async function isMissing(path: string): Promise<boolean> {
  return lstat(path).then(
    () => false,
    () => true,
  );
}
