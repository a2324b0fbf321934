import { parseJson } from '../base/parse-json.ts';
import { isUsable } from './is-usable.ts';
import { createTypeScanner, type TypeScanner } from './type-scanner.ts';

/** D12. A frame that grows beyond this is not held, whether its newline comes or not. Bytes. */
export const MAX_FRAME_BYTES = 1024 * 1024;

/** A line of Claude Code's stream. */
export type Frame =
  | { readonly kind: 'event'; readonly text: string; readonly event: NativeEvent }
  /** An event that cannot be kept: too long, nested too deep or with a number that JSON cannot say again. */
  | {
      readonly kind: 'unfit';
      readonly why: 'too_long' | 'unusable';
      readonly type: string | undefined;
    }
  /** Not a JSON object. `type` is what it would have been, if it began as one and can be told. */
  | { readonly kind: 'noise'; readonly type: string | undefined }
  /** The stream ended within a frame that had begun as an event. */
  | { readonly kind: 'truncated' };

export type NativeEvent = Readonly<Record<string, unknown>>;

export interface FrameReader {
  write(chunk: Buffer): void;
  /** To be called when the stream has ended: a last frame without its newline counts if it is whole. */
  end(): void;
}

const NEWLINE = 10;
const BRACE = 0x7b;
/** Many small chunks without a newline are put together now and then: each is an object of its own until then. */
const MAX_PARTS = 64;

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
    if (scanner !== undefined) scanner.write(bytes);
    else if (parts.push(bytes) > MAX_PARTS) parts = [Buffer.concat(parts)];
  };
  const finish = (atEnd: boolean): void => {
    if (size === 0) return;
    if (scanner !== undefined) onFrame({ kind: 'unfit', why: 'too_long', type: scanner.type() });
    else {
      const frame = toFrame(parts.length === 1 ? parts[0] : Buffer.concat(parts), atEnd);
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
    end: () => finish(true),
  };
}

/** Nothing is decoded that cannot be an event: a program that prints without end must not cost more than reading it. */
function toFrame(bytes: Buffer | undefined, atEnd: boolean): Frame | undefined {
  const first = bytes?.find((byte) => !isBlank(byte));
  if (bytes === undefined || first === undefined) return undefined;
  if (first !== BRACE) return { kind: 'noise', type: undefined };
  const text = bytes.toString('utf8');
  const event = parseJson(text);
  if (isEvent(event)) {
    if (isUsable(event)) return { kind: 'event', text, event };
    const { type } = event;
    return { kind: 'unfit', why: 'unusable', type: typeof type === 'string' ? type : undefined };
  }
  if (atEnd) return { kind: 'truncated' };
  const scanner = createTypeScanner();
  scanner.write(bytes);
  return { kind: 'noise', type: scanner.type() };
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

function isEvent(value: unknown): value is NativeEvent {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
