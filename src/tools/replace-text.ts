import { lineEndingAt, normalizeLineEndings, withLineEnding } from './line-endings.ts';

export interface Replacement {
  readonly text: string;
  readonly count: number;
  /** 1-based line of the first replaced occurrence. */
  readonly firstLine: number;
}

/** Positions of `needle` in `text`, not overlapping, at most `limit` of them. */
export function findOccurrences(text: string, needle: string, limit: number): number[] {
  const found: number[] = [];
  for (
    let at = text.indexOf(needle);
    at >= 0 && found.length < limit;
    at = text.indexOf(needle, at + needle.length)
  ) {
    found.push(at);
  }
  return found;
}

/**
 * Replaces occurrences of `oldText` without touching a byte outside the lines that really change. Both texts are
 * compared with line endings folded, so a model that writes LF matches a file of CRLF; lines that are the same at
 * the start and end of both are left as they are, and new lines take the ending in use where they are put.
 */
export function replaceText(original: string, oldText: string, newText: string): Replacement {
  const folded = normalizeLineEndings(original);
  const needle = oldText.replaceAll('\r\n', '\n');
  const explicitCrlf = newText.includes('\r\n') && !newText.replaceAll('\r\n', '').includes('\n');
  const target = newText.replaceAll('\r\n', '\n');
  const head = commonLines(needle, target);
  const tail = commonLinesAtEnd(needle.slice(head), target.slice(head));
  const inserted = target.slice(head, target.length - tail);
  const occurrences = findOccurrences(folded.text, needle, Number.POSITIVE_INFINITY);

  let result = '';
  let done = 0;
  for (const at of occurrences) {
    const start = folded.toOriginal(at + head);
    const end = folded.toOriginal(at + needle.length - tail);
    const ending = explicitCrlf ? '\r\n' : lineEndingAt(original, start);
    result += original.slice(done, start) + withLineEnding(inserted, ending);
    done = end;
  }
  const first = occurrences[0] ?? 0;
  return {
    text: result + original.slice(done),
    count: occurrences.length,
    firstLine: folded.text.slice(0, first).split('\n').length,
  };
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
