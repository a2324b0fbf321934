import { isUtf8 } from 'node:buffer';
import { ReinsError } from '../base/reins-error.ts';

/**
 * Throws `binary_file` or `invalid_utf8`, naming the position, unless `bytes` is UTF-8 text without zero bytes. A part
 * of a file comes with its own `position` in it, and has to begin and end with whole characters.
 */
export function requireText(bytes: Buffer, path: string, position = 0): void {
  const zero = bytes.indexOf(0);
  if (zero >= 0) {
    throw new ReinsError(
      'binary_file',
      `${path} is a binary file (zero byte at offset ${position + zero}); only text files can be used.`,
    );
  }
  if (isUtf8(bytes)) return;
  throw new ReinsError(
    'invalid_utf8',
    `${path} is not valid UTF-8 at byte offset ${position + firstInvalidByte(bytes)}; convert it to UTF-8 before using it here.`,
  );
}

/** Where the first sequence that is not UTF-8 begins, found by halving. */
function firstInvalidByte(bytes: Buffer): number {
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isUtf8Prefix(bytes, middle)) low = middle;
    else high = middle - 1;
  }
  while (low > 0 && !isUtf8(bytes.subarray(0, low))) low -= 1;
  return low;
}

/** A prefix may end within a character; up to three bytes of an unfinished one do not count against it. */
function isUtf8Prefix(bytes: Buffer, length: number): boolean {
  for (let unfinished = 0; unfinished <= 3 && unfinished <= length; unfinished += 1) {
    if (!isUtf8(bytes.subarray(0, length - unfinished))) continue;
    return unfinished === 0 || isLeadOf(bytes[length - unfinished] ?? 0, unfinished);
  }
  return false;
}

/** Whether `byte` starts a character of more than `seen` bytes. */
function isLeadOf(byte: number, seen: number): boolean {
  const length = byte >= 0xf0 && byte < 0xf5 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0;
  return byte < 0xf5 && seen < length;
}

/** The byte order mark. */
export const BOM = '\ufeff';

/** A file's text without its byte order mark, and whether it had one. */
export function splitBom(text: string): { readonly bom: boolean; readonly text: string } {
  return text.startsWith(BOM) ? { bom: true, text: text.slice(1) } : { bom: false, text };
}

export function joinBom(bom: boolean, text: string): string {
  return bom ? BOM + text : text;
}
