import { parseJson } from '../base/parse-json.ts';
import { createTypeScanner, type TypeScanner } from './type-scanner.ts';

/** D12. A frame that grows beyond this is not held, whether its newline comes or not. Bytes. */
export const MAX_FRAME_BYTES = 1024 * 1024;

/** A line of Claude Code's stream. */
export type Frame =
  | { readonly kind: 'event'; readonly text: string; readonly event: NativeEvent }
  /** An event that was too long to be kept. `type` is undefined if it could not be made out. */
  | { readonly kind: 'oversized'; readonly type: string | undefined }
  /** Not a JSON object: something else wrote into the stream. */
  | { readonly kind: 'noise' }
  /** The stream ended within a frame that had begun as an event. */
  | { readonly kind: 'truncated' };

export type NativeEvent = Readonly<Record<string, unknown>>;

export interface FrameReader {
  write(chunk: Buffer): void;
  /** To be called when the stream has ended: a last frame without its newline counts if it is whole. */
  end(): void;
}

const NEWLINE = 10;
const BLANK = /^\s*$/;

/**
 * Cuts a stream into frames as its bytes come. Characters that are split between chunks stay whole, since only whole
 * frames are decoded. Never holds more than one frame and never one above the limit.
 */
export function createFrameReader(onFrame: (frame: Frame) => void): FrameReader {
  let parts: Buffer[] = [];
  let size = 0;
  /** Set while the current frame is over the limit. */
  let scanner: TypeScanner | undefined;

  const append = (bytes: Buffer): void => {
    size += bytes.length;
    if (scanner === undefined && size > MAX_FRAME_BYTES) {
      scanner = createTypeScanner();
      for (const part of parts) scanner.write(part);
      parts = [];
    }
    if (scanner === undefined) parts.push(bytes);
    else scanner.write(bytes);
  };
  const finish = (atEnd: boolean): void => {
    if (scanner !== undefined) onFrame({ kind: 'oversized', type: scanner.type() });
    else {
      const frame = toFrame(Buffer.concat(parts).toString('utf8'), atEnd);
      if (frame !== undefined) onFrame(frame);
    }
    parts = [];
    size = 0;
    scanner = undefined;
  };

  return {
    write(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        append(chunk.subarray(start, end));
        finish(false);
        start = end + 1;
      }
      if (start < chunk.length) append(chunk.subarray(start));
    },
    end() {
      if (size > 0) finish(true);
    },
  };
}

function toFrame(text: string, atEnd: boolean): Frame | undefined {
  if (BLANK.test(text)) return undefined;
  const event = parseJson(text);
  if (isEvent(event)) return { kind: 'event', text, event };
  return { kind: atEnd && text.trimStart().startsWith('{') ? 'truncated' : 'noise' };
}

function isEvent(value: unknown): value is NativeEvent {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
