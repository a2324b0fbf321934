import { lstatSync } from 'node:fs';
import type { ToolContext } from './tool.ts';

/**
 * Whether a file that a walk came upon may be told of. One with a closed name is as if it did not exist, and so is one
 * that has a second, closed name, by a hard link or as the target of a symbolic one.
 */
export function isSearched(path: Buffer, context: ToolContext): boolean {
  if (context.protection.reasonFor(path.toString('utf8')) !== undefined) return false;
  try {
    const stat = lstatSync(path);
    return stat.isFile() && context.protection.reasonForFile(stat) === undefined;
  } catch {
    return false;
  }
}
