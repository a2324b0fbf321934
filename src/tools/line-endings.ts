/** Text whose CRLF are LF, with the way back: where each of its characters stands in the original. */
export interface NormalizedText {
  readonly text: string;
  /** Index in the original of the normalised index given; the end maps to the end. */
  toOriginal(index: number): number;
}

/** Turns CRLF into LF. A carriage return that stands alone stays. */
export function normalizeLineEndings(original: string): NormalizedText {
  if (!original.includes('\r\n')) return { text: original, toOriginal: (index) => index };
  const text = original.replaceAll('\r\n', '\n');
  const removed: number[] = [];
  for (let at = original.indexOf('\r\n'); at >= 0; at = original.indexOf('\r\n', at + 2)) {
    removed.push(at - removed.length);
  }
  return {
    text,
    // The n-th removed CR stood in front of normalised index removed[n]; each one passed shifts the original by one.
    toOriginal: (index) => index + countBelow(removed, index),
  };
}

/** How many of the ascending `values` are below `limit`. */
function countBelow(values: readonly number[], limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

export type LineEnding = '\n' | '\r\n';

/**
 * The line ending in use at `index` of `original`: that of the line which contains it, else of the line before, else
 * the platform-neutral LF. In a file of mixed endings a change so keeps to its neighbourhood.
 */
export function lineEndingAt(original: string, index: number): LineEnding {
  const next = original.indexOf('\n', index);
  const at = next >= 0 ? next : original.lastIndexOf('\n');
  return at > 0 && original[at - 1] === '\r' ? '\r\n' : '\n';
}

/** `text` with every LF that is not already part of a CRLF written as `ending`. */
export function withLineEnding(text: string, ending: LineEnding): string {
  return ending === '\n' ? text : text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n');
}

/** The one ending that all lines of `text` have, or undefined when they differ or there is none. */
export function uniformLineEnding(text: string): LineEnding | undefined {
  const lines = text.split('\n').length - 1;
  if (lines === 0) return undefined;
  const crlf = text.split('\r\n').length - 1;
  if (crlf === 0) return '\n';
  return crlf === lines ? '\r\n' : undefined;
}
