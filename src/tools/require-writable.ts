import { ReinsError } from '../base/reins-error.ts';
import type { ToolContext } from './tool.ts';

/** Throws `outside_write_root` or `protected_path` unless `path` is in the write root and open to changes there. */
export function requireWritable(path: string, context: ToolContext): void {
  const root = context.writeRoot;
  if (root === null) {
    throw new ReinsError(
      'outside_write_root',
      'This session only reads; start one with capability_profile direct_write to change files.',
    );
  }
  if (path.startsWith(`${root}/`)) {
    const reason = context.protection.writeReasonFor(path);
    if (reason === undefined) return;
    throw new ReinsError(
      'protected_path',
      `${path} can be read and not changed here (${reason}: it would run later, outside of this session); ask the person at the computer to change it.`,
    );
  }
  throw new ReinsError(
    'outside_write_root',
    `${path} is outside ${root}, the only directory that this session may change; start another session for other directories.`,
  );
}
