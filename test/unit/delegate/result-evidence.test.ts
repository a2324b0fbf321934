import { expect, test } from 'vitest';
import type { Frame } from '../../../src/delegate/frame-reader.ts';
import {
  MAX_FINAL_EVENT_BYTES,
  NO_RESULT,
  type ResultEvidence,
  weighFrame,
} from '../../../src/delegate/result-evidence.ts';

const event = (value: Record<string, unknown>): Frame => ({
  kind: 'event',
  text: JSON.stringify(value),
  event: value,
});
const good = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  session_id: 's',
  result: 'yes',
};
const noise: Frame = { kind: 'noise', type: undefined };
const tooLong = (type: string | undefined): Frame => ({ kind: 'unfit', why: 'too_long', type });
const unusable = (type: string | undefined): Frame => ({ kind: 'unfit', why: 'unusable', type });
const truncated: Frame = { kind: 'truncated' };
const weigh = (...frames: readonly Frame[]): ResultEvidence => frames.reduce(weighFrame, NO_RESULT);

test.each([
  ['nothing', [], 'none'],
  ['other events and noise', [event({ type: 'assistant' }), noise], 'none'],
  ['a result', [event(good)], 'success'],
  ['a result with an empty text', [event({ ...good, result: '' })], 'success'],
  ['a result among noise', [noise, event(good), noise], 'success'],
  ['an error', [event({ ...good, is_error: true })], 'native_error'],
  [
    'an error without a text',
    [event({ ...good, is_error: true, result: undefined })],
    'native_error',
  ],
  ['another subtype', [event({ ...good, subtype: 'error_max_turns' })], 'native_error'],
  ['no text', [event({ ...good, result: undefined })], 'malformed'],
  ['null for a text', [event({ ...good, result: null })], 'malformed'],
  ['a text that is none', [event({ ...good, result: { a: 1 } })], 'malformed'],
  ['no session', [event({ ...good, session_id: '' })], 'malformed'],
  ['no outcome', [event({ ...good, is_error: undefined })], 'malformed'],
  ['an outcome in words', [event({ ...good, is_error: 'false' })], 'malformed'],
  ['no subtype', [event({ ...good, subtype: '' })], 'malformed'],
  ['two results', [event(good), event(good)], 'duplicate'],
  ['a good and a malformed one', [event(good), event({ type: 'result' })], 'duplicate'],
  ['an error and a good one', [event({ ...good, is_error: true }), event(good)], 'duplicate'],
  ['a malformed and a good one', [event({ type: 'result' }), event(good)], 'malformed'],
  ['a result and half an event', [event(good), truncated], 'truncated'],
  ['half an event', [truncated], 'truncated'],
  ['a long event of another type', [tooLong('user'), event(good)], 'success'],
  ['a long result', [tooLong('result')], 'too_large'],
  ['a long event of no known type', [tooLong(undefined), event(good)], 'too_large'],
  ['an unusable event of another type', [unusable('user'), event(good)], 'success'],
  ['an unusable result', [unusable('result')], 'malformed'],
  ['a result and a broken one', [event(good), { kind: 'noise', type: 'result' }], 'malformed'],
  [
    'a broken result and a whole one',
    [{ kind: 'noise', type: 'result' }, event(good)],
    'malformed',
  ],
  ['a broken event of another type', [{ kind: 'noise', type: 'user' }, event(good)], 'success'],
  ['a result and a long one', [event(good), tooLong('result')], 'too_large'],
] satisfies [string, Frame[], string][])('D13 %s', (_what, frames, finding) => {
  expect(weigh(...frames).finding).toBe(finding);
});

test('D13 the first valid final event is kept, whatever comes before or after', () => {
  const later = event({ ...good, result: 'later' });
  expect(weigh(event(good), later).finalEvent).toMatchObject({ result: 'yes' });
  expect(weigh(event({ type: 'result' }), event(good), later).finalEvent?.result).toBe('yes');
  expect(weigh(event(good), truncated).finalEvent?.result).toBe('yes');
  expect(weigh(event({ ...good, extra: { kept: [1] } })).finalEvent).toMatchObject({
    extra: { kept: [1] },
  });
});

test('D12 a final event is kept up to 128 KiB of UTF-8', () => {
  const bare = Buffer.byteLength(JSON.stringify({ ...good, result: '' }));
  const fits = event({ ...good, result: 'x'.repeat(MAX_FINAL_EVENT_BYTES - bare) });
  const over = event({ ...good, result: 'x'.repeat(MAX_FINAL_EVENT_BYTES - bare + 1) });
  const wide = event({ ...good, result: 'ä'.repeat((MAX_FINAL_EVENT_BYTES - bare) / 2 + 1) });
  expect(weigh(fits).finding).toBe('success');
  for (const each of [over, wide]) {
    expect(weigh(each)).toEqual({ finding: 'too_large', finalEvent: null });
  }
});
