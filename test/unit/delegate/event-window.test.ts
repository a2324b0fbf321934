import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createEventWindow,
  MAX_WINDOW_BYTES,
  MAX_WINDOW_EVENTS,
} from '../../../src/delegate/event-window.ts';

const eventOf = (number: number, bytes: number): string =>
  JSON.stringify({ number, text: 'x'.repeat(bytes) });

test('D12 whoever reads page after page sees each event once, or is told how many are missing', () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ append: fc.nat(3000) }) },
    { weight: 1, arbitrary: fc.record({ append: fc.constant(MAX_WINDOW_BYTES + 1) }) },
    { weight: 1, arbitrary: fc.constant({ omit: true }) },
    { weight: 2, arbitrary: fc.record({ read: fc.integer({ min: 1, max: 300 }) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 600, size: 'max' }), (steps) => {
      const window = createEventWindow();
      const kept: string[] = [];
      let number = 0;
      let omitted = 0;
      let cursor = 0;
      const seen: string[] = [];
      let missed = 0;
      const read = (limit: number): boolean => {
        const page = window.page(cursor, limit);
        expect(page.events.length).toBeLessThanOrEqual(limit);
        seen.push(...page.events);
        missed += page.missedEvents;
        expect(page.nextCursor).toBeGreaterThanOrEqual(cursor);
        cursor = page.nextCursor;
        return page.hasMore;
      };
      for (const each of steps) {
        if ('read' in each) read(each.read);
        else if ('omit' in each) {
          window.omit();
          omitted += 1;
          number += 1;
        } else {
          const event = eventOf(number, each.append);
          window.append(event);
          if (Buffer.byteLength(event) > MAX_WINDOW_BYTES) omitted += 1;
          else kept.push(event);
          number += 1;
        }
      }
      while (read(1000));
      expect(cursor).toBe(number);
      expect(window.page(cursor, 1).omittedEvents).toBe(omitted);
      // In order, none twice, and none gone without a word; an omitted event can be in a gap and is counted with it.
      expect(new Set(seen).size).toBe(seen.length);
      expect(kept.filter((event) => seen.includes(event))).toEqual(seen);
      expect(seen.length + missed).toBeGreaterThanOrEqual(kept.length);
      expect(seen.length + missed).toBeLessThanOrEqual(number);
    }),
    { numRuns: 40 },
  );
});

test('D12 the window holds 256 events and 256 KiB at most, the latest', () => {
  const many = createEventWindow();
  for (let number = 0; number < 1000; number += 1) many.append(eventOf(number, 0));
  expect(many.page(0, 1000)).toMatchObject({ missedEvents: 1000 - MAX_WINDOW_EVENTS });
  const large = createEventWindow();
  for (let number = 0; number < 100; number += 1) large.append(eventOf(number, 10_000));
  let held = 0;
  let cursor = 0;
  for (let more = true; more; ) {
    const page = large.page(cursor, 256);
    held += page.events.reduce((sum, event) => sum + Buffer.byteLength(event), 0);
    cursor = page.nextCursor;
    more = page.hasMore;
  }
  expect(held).toBeLessThanOrEqual(MAX_WINDOW_BYTES);
  expect(held).toBeGreaterThan(MAX_WINDOW_BYTES - 20_000);
});

test('D12 a page has at most 64 KiB, but at least one event', () => {
  const window = createEventWindow();
  for (const bytes of [100_000, 40_000, 40_000, 10]) window.append(eventOf(0, bytes));
  const sizes = [];
  let cursor = 0;
  for (let more = true; more; ) {
    const page = window.page(cursor, 256);
    sizes.push(page.events.length);
    cursor = page.nextCursor;
    more = page.hasMore;
  }
  expect(sizes).toEqual([1, 1, 2]);
});

test('D12 a cursor ahead of the stream is refused', () => {
  const window = createEventWindow();
  window.append('{}');
  expect(window.page(1, 1)).toMatchObject({ events: [], nextCursor: 1, hasMore: false });
  expect(() => window.page(2, 1)).toThrow(/use next_cursor/);
});
