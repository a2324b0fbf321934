import {
  endLines,
  type LineEnding,
  LineEndingFinder,
  normalizeLineEndings,
} from './line-endings.ts';

export interface Replacement {
  readonly bytes: Buffer;
  readonly count: number;
  /** 1-based line of the first replaced occurrence. */
  readonly firstLine: number;
}

/** Text that is put together piece by piece is turned into bytes from this length on; a long chain of pieces is dear. */
const PIECE_LENGTH = 64 * 1024;

/** Positions of `needle` in `text` at least `step` apart, at most `limit` of them. */
export function findOccurrences(
  text: string,
  needle: string,
  step: number,
  limit: number,
): number[] {
  const found: number[] = [];
  for (
    let at = text.indexOf(needle);
    at >= 0 && found.length < limit;
    at = text.indexOf(needle, at + step)
  ) {
    found.push(at);
  }
  return found;
}

/**
 * Replaces occurrences of `oldText` without touching a byte outside the lines that really change. Both texts are
 * compared with line endings folded, so a model that writes LF matches a file of CRLF; lines that are the same at
 * the start and end of both are left as they are, those between keep their endings line by line, and new lines take
 * the ending in use where they are put. Only a text that brings CRLF where `oldText` had none gets it.
 */
export function replaceText(original: string, oldText: string, newText: string): Replacement {
  const folded = normalizeLineEndings(original);
  const needle = oldText.replaceAll('\r\n', '\n');
  const target = newText.replaceAll('\r\n', '\n');
  const head = commonLines(needle, target);
  const tail = commonLinesAtEnd(needle.slice(head), target.slice(head));
  const inserted = target.slice(head, target.length - tail);
  const demanded = demandedEnding(oldText, newText);
  const endings = new LineEndingFinder(original);
  const occurrences = findOccurrences(folded.text, needle, needle.length, Number.POSITIVE_INFINITY);

  const parts: Buffer[] = [];
  let piece = '';
  let done = 0;
  for (const at of occurrences) {
    const start = folded.toOriginal(at + head);
    const end = folded.toOriginal(at + needle.length - tail);
    piece += original.slice(done, start);
    piece += inserted.includes('\n')
      ? endLines(inserted, original.slice(start, end), demanded ?? endings.at(start), demanded)
      : inserted;
    done = end;
    if (piece.length < PIECE_LENGTH) continue;
    parts.push(Buffer.from(piece, 'utf8'));
    piece = '';
  }
  parts.push(Buffer.from(piece + original.slice(done), 'utf8'));
  const first = occurrences[0] ?? 0;
  return {
    bytes: Buffer.concat(parts),
    count: occurrences.length,
    firstLine: folded.text.slice(0, first).split('\n').length,
  };
}

function demandedEnding(oldText: string, newText: string): LineEnding | undefined {
  const everyLine = newText.includes('\r\n') && !newText.replaceAll('\r\n', '').includes('\n');
  return everyLine && !oldText.includes('\r\n') ? '\r\n' : undefined;
}

/** Length of the longest common start that ends with a line feed. */
function commonLines(a: string, b: string): number {
  let same = 0;
  let lines = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) {
    same += 1;
    if (a[same - 1] === '\n') lines = same;
  }
  return lines;
}

/** Length of the longest common end that begins right after a line feed of both. */
function commonLinesAtEnd(a: string, b: string): number {
  let same = 0;
  let lines = 0;
  while (same < a.length && same < b.length && a.at(-1 - same) === b.at(-1 - same)) {
    same += 1;
    if (a.at(-1 - same) === '\n' && b.at(-1 - same) === '\n') lines = same;
  }
  return lines;
}
