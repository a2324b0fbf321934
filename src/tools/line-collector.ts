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
  /** Without the line feed, and without a carriage return in front of it. */
  readonly bytes: Buffer;
  /** Where the line begins in the file, in bytes. */
  readonly position: number;
  /** Length of the whole line, when only its start is in `bytes`; else null. */
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
  #position = 0;
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
    const wanted = part.subarray(0, MAX_LINE_BYTES + 1 - this.#keptBytes);
    if (wanted.length === 0) return;
    // A copy: a view would keep the whole chunk in memory, and who pushes may use the chunk again.
    this.#kept.push(Buffer.from(wanted));
    this.#keptBytes += wanted.length;
  }

  #finishLine(): void {
    if (this.#number >= this.#request.offset) {
      const kept = Buffer.concat(this.#kept);
      const cut = this.#lineBytes > MAX_LINE_BYTES;
      const crlf = !cut && kept.at(-1) === 13;
      if (crlf) this.#crlf = true;
      const bytes = cut ? cutAtCharacter(kept) : crlf ? kept.subarray(0, -1) : kept;
      this.#lines.push({
        number: this.#number,
        bytes,
        position: this.#position,
        cutFrom: cut ? this.#lineBytes : null,
      });
      this.#used += String(this.#number).length + '\t\n'.length + bytes.length;
    }
    this.#number += 1;
    this.#position += this.#lineBytes + 1;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#lineBytes = 0;
  }
}

/** At most `MAX_LINE_BYTES`, and no part of a character at the end. What is no UTF-8 at all is not searched further. */
function cutAtCharacter(bytes: Buffer): Buffer {
  let end = MAX_LINE_BYTES;
  while (end > MAX_LINE_BYTES - 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}
