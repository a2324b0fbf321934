import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createFrameReader,
  type Frame,
  MAX_FRAME_BYTES,
} from '../../../src/delegate/frame-reader.ts';

function readAll(chunks: readonly Buffer[]): Frame[] {
  const frames: Frame[] = [];
  const reader = createFrameReader((frame) => frames.push(frame));
  for (const chunk of chunks) reader.write(chunk);
  reader.end();
  return frames;
}

/** The same bytes in pieces of these sizes. */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let start = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(start, start + size));
    start += size;
  }
  return [...chunks, bytes.subarray(start)];
}

const eventText = (bytes: number, type = 'assistant'): string => {
  const bare = JSON.stringify({ text: '', type }).length;
  return JSON.stringify({ text: 'x'.repeat(bytes - bare), type });
};

test('D12 frames are the same however the stream is cut, in the middle of characters too', () => {
  const event = fc.record({
    type: fc.constantFrom('system', 'assistant', 'result'),
    text: fc.string({ unit: 'grapheme' }),
  });
  const line = fc.oneof(
    event.map((value) => JSON.stringify(value)),
    fc.constantFrom('', '  ', 'no JSON', '[1]', '"x"', '7', 'null', '{"half":'),
  );
  fc.assert(
    fc.property(
      fc.array(line),
      fc.array(fc.nat(7)),
      fc.boolean(),
      (lines, sizes, withLastNewline) => {
        const bytes = Buffer.from(lines.join('\n') + (withLastNewline ? '\n' : ''));
        expect(readAll(cut(bytes, sizes))).toEqual(readAll([bytes]));
      },
    ),
  );
});

test('D12 what is no JSON object is noise, blank lines are nothing', () => {
  const kinds = readAll([Buffer.from('\n  \nx\n[]\n7\nnull\n"a"\n{"a":\n{"type":"a"}\n')]);
  expect(kinds.map(({ kind }) => kind)).toEqual([...Array(6).fill('noise'), 'event']);
});

describe('the end of the stream', () => {
  const kindsOf = (text: string): string[] => readAll([Buffer.from(text)]).map(({ kind }) => kind);

  test('D12 F5 a whole last frame counts without its newline, a part of one does not', () => {
    expect(kindsOf('{"type":"result"}')).toEqual(['event']);
    expect(kindsOf('{"type":"result"')).toEqual(['truncated']);
    expect(kindsOf('  {"type":')).toEqual(['truncated']);
    expect(kindsOf('bye')).toEqual(['noise']);
    expect(kindsOf('')).toEqual([]);
    expect(kindsOf('{"type":"a"}\n')).toEqual(['event']);
  });

  test('D12 F5 every part of a result is told from the whole of it', () => {
    const whole = JSON.stringify({ type: 'result', result: 'ä"\\\n' });
    for (let end = 1; end < Buffer.byteLength(whole); end += 1) {
      const [frame] = readAll([Buffer.from(whole).subarray(0, end)]);
      expect(frame?.kind).toBe('truncated');
    }
  });
});

describe('D12 F6 the limit of a frame', () => {
  test('is a mebibyte, whether the newline is there or not', () => {
    for (const [bytes, kind] of [
      [MAX_FRAME_BYTES - 1, 'event'],
      [MAX_FRAME_BYTES, 'event'],
      [MAX_FRAME_BYTES + 1, 'unfit'],
    ] as const) {
      for (const end of ['\n', '']) {
        const [frame] = readAll([Buffer.from(eventText(bytes) + end)]);
        expect(frame?.kind, `${bytes}`).toBe(kind);
      }
    }
  });

  test('the type of a longer one is made out all the same, and the next frame is whole', () => {
    const bytes = Buffer.from(`${eventText(2 * MAX_FRAME_BYTES, 'user')}\n{"type":"result"}\n`);
    const frames = readAll(cut(bytes, Array(40).fill(50_000)));
    expect(frames).toEqual([
      { kind: 'unfit', why: 'too_long', type: 'user' },
      { kind: 'event', text: '{"type":"result"}', event: { type: 'result' } },
    ]);
  });

  test('a longer one that is no JSON, has no type or two of them has none', () => {
    const filler = 'x'.repeat(MAX_FRAME_BYTES + 1);
    for (const text of [
      filler,
      `{"text":"${filler}"}`,
      `{"type":"a","text":"${filler}","type":"result"}`,
      `{"inner":{"type":"a"},"text":"${filler}"}`,
      `{"text":"\\"type\\":\\"a\\"${filler}"}`,
    ]) {
      expect(readAll([Buffer.from(`${text}\n`)])).toEqual([
        { kind: 'unfit', why: 'too_long', type: undefined },
      ]);
    }
  });

  test('the type of a longer one is found wherever it stands', () => {
    const inner = fc.json({ maxDepth: 3 });
    fc.assert(
      fc.property(inner, inner, fc.nat(4000), (before, after, at) => {
        const text = `{"a":${before}, "text" : "${'y'.repeat(MAX_FRAME_BYTES)}\\\\", "type" : "user","z":${after}}`;
        const bytes = Buffer.from(text);
        expect(readAll(cut(bytes, [at]))).toEqual([
          { kind: 'unfit', why: 'too_long', type: 'user' },
        ]);
      }),
      { numRuns: 30 },
    );
  });
});

describe('an event that cannot be passed on', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  test('D12 nested more than 200 deep or with a number out of range is told apart, however deep', () => {
    const kindOf = (value: string): string | undefined =>
      readAll([Buffer.from(`{"type":"user","x":${value}}\n`)])[0]?.kind;
    expect(kindOf(nested(199))).toBe('event');
    for (const value of [nested(201), nested(5_000), nested(100_000), '1e999', '[-1e999]']) {
      expect(kindOf(value)).toBe('unfit');
    }
  });
});
