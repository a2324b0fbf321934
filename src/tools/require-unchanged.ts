import { ReinsError } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';
import type { ToolContext } from './tool.ts';

/** Throws `file_changed` when the session has seen other content of this file than it has now. */
export function requireUnchanged(path: string, bytes: Buffer, context: ToolContext): void {
  const seen = context.lastSeen(path);
  if (seen === undefined || seen === sha256(bytes)) return;
  throw new ReinsError(
    'file_changed',
    `${path} was changed by somebody else since this session last read or wrote it; Read it again and repeat the change on what is there now.`,
  );
}
