import { isUtf8 } from 'node:buffer';
import { escapeText } from '../base/escape-text.ts';

/** A path on a line of its own: a name with a line feed or an invisible character cannot pose as another. */
export function showPath(path: string): string {
  return escapeText(path);
}

/** The same for a path as the file system has it. Bytes that are not UTF-8 are shown as `\xff`, each for itself. */
export function showPathBytes(path: Buffer): string {
  if (isUtf8(path)) return showPath(path.toString('utf8'));
  let shown = '';
  for (let at = 0; at < path.length; ) {
    const length = characterLength(path, at);
    shown +=
      length === 0
        ? `\\x${path.toString('hex', at, at + 1)}`
        : showPath(path.toString('utf8', at, at + length));
    at += Math.max(length, 1);
  }
  return shown;
}

/** Length in bytes of the character that begins at `at`; 0 where none does. */
function characterLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length += 1) {
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  }
  return 0;
}
