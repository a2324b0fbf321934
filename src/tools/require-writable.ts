import { ReinsError } from '../base/reins-error.ts';
import type { ToolContext } from './tool.ts';

/** Throws `outside_write_root` unless `path` is inside the session's write root. */
export function requireWritable(path: string, context: ToolContext): void {
  const root = context.writeRoot;
  if (root === null) {
    throw new ReinsError(
      'outside_write_root',
      'This session only reads; start one with capability_profile direct_write to change files.',
    );
  }
  if (path.startsWith(`${root}/`)) return;
  throw new ReinsError(
    'outside_write_root',
    `${path} is outside ${root}, the only directory that this session may change; start another session for other directories.`,
  );
}
