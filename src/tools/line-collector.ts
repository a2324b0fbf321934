import { truncateText } from '../base/truncate-text.ts';

/** A longer line is shown cut, in bytes: it is data, and one of them must not use up the whole answer. */
export const MAX_LINE_BYTES = 8 * 1024;

export interface WindowRequest {
  /** 1-based number of the first line wanted. */
  readonly offset: number;
  readonly limit: number;
  /** The window ends after the line that reaches this; it can be exceeded by one line. */
  readonly maxBytes: number;
}

export interface CollectedLine {
  readonly number: number;
  readonly text: string;
  /** Length of the whole line, when only its start is in `text`; else null. */
  readonly cutFrom: number | null;
}

export interface LineWindow {
  readonly lines: readonly CollectedLine[];
  /** The first line after the window, or null when the window reaches the end of the file. */
  readonly next: number | null;
  /** Number of lines in the file; null when the end was not reached. */
  readonly total: number | null;
  readonly crlf: boolean;
  readonly endsWithNewline: boolean;
}

/**
 * Picks a window of lines out of bytes that are pushed in order. Lines before the window are only counted and of a
 * long line only the start is kept, so it holds no more than the window whatever the file is like.
 */
export class LineCollector {
  readonly #request: WindowRequest;
  readonly #lines: CollectedLine[] = [];
  #number = 1;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #lineBytes = 0;
  #used = 0;
  #crlf = false;
  #next: number | null = null;

  constructor(request: WindowRequest) {
    this.#request = request;
  }

  /** Returns false when the window is complete and no more bytes are needed. */
  push(chunk: Buffer): boolean {
    let start = 0;
    while (start < chunk.length) {
      if (this.#isFull()) {
        this.#next = this.#number;
        return false;
      }
      const end = chunk.indexOf(10, start);
      this.#keep(chunk.subarray(start, end < 0 ? chunk.length : end));
      if (end < 0) return true;
      this.#finishLine();
      start = end + 1;
    }
    return true;
  }

  finish(): LineWindow {
    const endsWithNewline = this.#lineBytes === 0;
    if (!endsWithNewline && this.#next === null) this.#finishLine();
    return {
      lines: this.#lines,
      next: this.#next,
      total: this.#next === null ? this.#number - 1 : null,
      crlf: this.#crlf,
      endsWithNewline,
    };
  }

  #isFull(): boolean {
    const { limit, maxBytes } = this.#request;
    return this.#lines.length >= limit || this.#used >= maxBytes;
  }

  #keep(part: Buffer): void {
    this.#lineBytes += part.length;
    if (this.#number < this.#request.offset) return;
    const wanted = part.subarray(0, MAX_LINE_BYTES + 4 - this.#keptBytes);
    this.#kept.push(wanted);
    this.#keptBytes += wanted.length;
  }

  #finishLine(): void {
    if (this.#number >= this.#request.offset) {
      const text = Buffer.concat(this.#kept).toString('utf8');
      const ended = text.endsWith('\r') ? text.slice(0, -1) : text;
      if (ended !== text) this.#crlf = true;
      const cut = this.#lineBytes > MAX_LINE_BYTES;
      const shown = cut ? truncateText(ended, MAX_LINE_BYTES) : ended;
      this.#lines.push({
        number: this.#number,
        text: shown,
        cutFrom: cut ? this.#lineBytes : null,
      });
      this.#used += Buffer.byteLength(shown) + 8;
    }
    this.#number += 1;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#lineBytes = 0;
  }
}
