import { ReinsError } from '../base/reins-error.ts';
import { type OpenedFile, openRegularFile } from './open-verified.ts';
import { toPathError } from './resolve-path.ts';
import type { ToolContext } from './tool.ts';

/**
 * Largest file that is read whole, and so that can be changed: its before-image goes into the ledger. Source files
 * are far below; what is above is generated.
 */
export const MAX_WHOLE_FILE_BYTES = 10 * 1024 * 1024;

export interface WholeFile {
  readonly bytes: Buffer;
  readonly mode: number;
  readonly links: number;
}

/** A file's content and mode, read from one descriptor. Throws `file_too_large` and what opening throws. */
async function readWholeFile(path: string, context: ToolContext): Promise<WholeFile> {
  const file = await openRegularFile(path, context);
  try {
    const bytes = await readToEnd(file);
    if (bytes === undefined) throw tooLarge(path);
    return { bytes, mode: file.stat.mode & 0o7777, links: file.stat.nlink };
  } catch (error) {
    throw toPathError(error, path);
  } finally {
    await file.handle.close();
  }
}

/** A file that is about to be replaced. Throws `hard_link` or `read_only_file` when replacing would do harm. */
export async function readReplaceableFile(path: string, context: ToolContext): Promise<WholeFile> {
  const file = await readWholeFile(path, context);
  if (file.links > 1) {
    throw new ReinsError(
      'hard_link',
      `${path} has ${file.links} hard links, and replacing it would part it from the others; change it outside this session.`,
    );
  }
  if ((file.mode & 0o222) === 0) {
    throw new ReinsError(
      'read_only_file',
      `${path} is read-only (mode ${file.mode.toString(8)}); make it writable on the computer first if it is to change.`,
    );
  }
  return file;
}

/** The rest of an opened file, or undefined when it is too large or keeps growing past the limit. */
export async function readToEnd(file: OpenedFile): Promise<Buffer | undefined> {
  if (file.stat.size > MAX_WHOLE_FILE_BYTES) return undefined;
  let buffer = Buffer.allocUnsafe(file.stat.size + 1);
  let size = 0;
  for (;;) {
    const { bytesRead } = await file.handle.read(buffer, size, buffer.length - size, size);
    size += bytesRead;
    if (size > MAX_WHOLE_FILE_BYTES) return undefined;
    // All that was announced and no byte more: the end. Anything else is asked for again until nothing comes.
    const complete = size === file.stat.size && size < buffer.length;
    if (complete || bytesRead === 0) return buffer.subarray(0, size);
    if (size === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(64 * 1024)]);
  }
}

function tooLarge(path: string): ReinsError {
  return new ReinsError(
    'file_too_large',
    `${path} is larger than ${MAX_WHOLE_FILE_BYTES} bytes, the limit for changing a file; Read and SearchText still work on it.`,
  );
}
