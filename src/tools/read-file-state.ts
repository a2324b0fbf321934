import { ReinsError } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';
import { openRegularFile } from './open-verified.ts';
import { readToEnd } from './read-whole-file.ts';
import type { ToolContext } from './tool.ts';

/** What is at a path now. `sha256` is null when nothing is there, and undefined when it is no readable file. */
export interface FileState {
  readonly sha256: string | null | undefined;
  readonly bytes: Buffer | null;
  readonly mode: number;
}

/** Looks at a file for comparison with what was recorded of it. Never throws for what it finds there. */
export async function readFileState(path: string, context: ToolContext): Promise<FileState> {
  try {
    const file = await openRegularFile(path, context);
    try {
      const bytes = await readToEnd(file);
      if (bytes === undefined) return { sha256: undefined, bytes: null, mode: 0 };
      return { sha256: sha256(bytes), bytes, mode: file.stat.mode & 0o7777 };
    } finally {
      await file.handle.close();
    }
  } catch (error) {
    const absent = error instanceof ReinsError && error.code === 'path_not_found';
    return { sha256: absent ? null : undefined, bytes: null, mode: 0 };
  }
}
