import { isUtf8 } from 'node:buffer';
import { escapeText } from '../base/escape-text.ts';

/** A path on a line of its own: a name with a line feed or an invisible character cannot pose as another. */
export function showPath(path: string): string {
  return escapeText(path);
}

/** The same for a path as the file system has it. Bytes that are not UTF-8 are shown as `\xff`, each for itself. */
export function showPathBytes(path: Buffer): string {
  return show(path, false);
}

/** What a program printed, in lines, shown in the same way. */
export function showBytes(bytes: Buffer): string {
  return show(bytes, true);
}

function show(bytes: Buffer, keepNewlines: boolean): string {
  if (isUtf8(bytes)) return escapeText(bytes.toString('utf8'), keepNewlines);
  const shown: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    shown.push(
      length === 0
        ? `\\x${bytes.toString('hex', at, at + 1)}`
        : escapeText(bytes.toString('utf8', at, at + length), keepNewlines),
    );
    at += Math.max(length, 1);
  }
  return shown.join('');
}

/** Length in bytes of the character that begins at `at`; 0 where none does. */
function characterLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length += 1) {
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  }
  return 0;
}
