import { diffArrays } from 'diff';

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
 * The line ending in use at places of a text that are asked for in ascending order: that of the line which contains
 * the place, else of the line before, else the platform-neutral LF. In a file of mixed endings a change so keeps to its
 * neighbourhood.
 */
export class LineEndingFinder {
  readonly #text: string;
  /** The line feed that was found last; it answers for every place up to it, so none is looked for twice. */
  #lineFeed = -1;
  #searchedFrom = Number.POSITIVE_INFINITY;

  constructor(text: string) {
    this.#text = text;
  }

  at(index: number): LineEnding {
    if (index < this.#searchedFrom || (this.#lineFeed >= 0 && index > this.#lineFeed)) {
      this.#searchedFrom = index;
      this.#lineFeed = this.#text.indexOf('\n', index);
    }
    const at = this.#lineFeed >= 0 ? this.#lineFeed : this.#text.lastIndexOf('\n');
    return at > 0 && this.#text[at - 1] === '\r' ? '\r\n' : '\n';
  }
}

/** Beyond this many differing lines the endings are handed over by position; telling lines apart gets slow. */
const MAX_LINE_CHANGES = 400;

/**
 * `text`, whose lines end with LF, with the line endings of `replaced`, the part of the file whose place it takes: a
 * line that stays keeps its own, a line that is changed takes that of the line it stands for, and where there is none
 * `fallback` is used. `demanded` overrules all of it.
 */
export function endLines(
  text: string,
  replaced: string,
  fallback: LineEnding,
  demanded: LineEnding | undefined,
): string {
  const uniform = demanded ?? uniformLineEnding(replaced);
  if (uniform !== undefined || !replaced.includes('\n')) {
    return withLineEnding(text, uniform ?? fallback);
  }
  // What follows the last line feed has no ending of its own.
  const old = replaced.split('\n').slice(0, -1);
  const oldEndings = old.map((line): LineEnding => (line.endsWith('\r') ? '\r\n' : '\n'));
  const lines = text.split('\n');
  const rest = lines.pop() ?? '';
  const counterparts = alignLines(
    old.map((line) => line.replace(/\r$/, '')),
    lines,
  );
  let ending = fallback;
  const ended = lines.map((line, index) => {
    ending = oldEndings[counterparts[index] ?? -1] ?? ending;
    return line + ending;
  });
  return ended.join('') + rest;
}

/** For each new line the index of the old line that it is, or that it stands for. */
function alignLines(old: readonly string[], fresh: readonly string[]): (number | undefined)[] {
  const changes = diffArrays([...old], [...fresh], { maxEditLength: MAX_LINE_CHANGES });
  if (changes === undefined) return fresh.map((_, index) => Math.min(index, old.length - 1));
  const result: (number | undefined)[] = [];
  let at = 0;
  let removed = 0;
  for (const change of changes) {
    if (change.removed) {
      removed = change.count;
      continue;
    }
    for (let index = 0; index < change.count; index += 1) {
      if (change.added) result.push(index < removed ? at + index : undefined);
      else result.push(at + removed + index);
    }
    at += removed + (change.added ? 0 : change.count);
    removed = 0;
  }
  return result;
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
