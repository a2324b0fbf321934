import { ReinsError } from '../base/reins-error.ts';

/** D12: the latest events, at most so many and at most so many bytes of UTF-8. */
export const MAX_WINDOW_EVENTS = 256;
export const MAX_WINDOW_BYTES = 256 * 1024;
/** A page is what a calling model reads at once. It has at least one event, however long that is. Bytes. */
const MAX_PAGE_BYTES = 64 * 1024;

export interface EventPage {
  /** The native events, oldest first, as JSON texts. */
  readonly events: readonly string[];
  /** Where the next page begins. */
  readonly nextCursor: number;
  /** Whether there is a next page already. */
  readonly hasMore: boolean;
  /** Events between the cursor and this page that the window had let go. */
  readonly missedEvents: number;
  /** Events of the whole run that were too long for the window and are in no page. */
  readonly omittedEvents: number;
}

/** The end of a run's stream of events. Each event has a number, counted from 0; a cursor is the number of the next. */
export interface EventWindow {
  append(event: string): void;
  /** Counts an event that was too long to be given here. */
  omit(): void;
  /** Throws `cursor_invalid` for a cursor that is ahead of the stream. */
  page(cursor: number, limit: number): EventPage;
}

interface Entry {
  readonly number: number;
  readonly event: string;
  readonly bytes: number;
}

export function createEventWindow(): EventWindow {
  const entries: Entry[] = [];
  let bytes = 0;
  let next = 0;
  let omitted = 0;
  /** The number of the oldest event that is still here, or would be. */
  let oldest = 0;

  const append = (event: string): void => {
    const size = Buffer.byteLength(event);
    if (size > MAX_WINDOW_BYTES) {
      omitted += 1;
      next += 1;
      return;
    }
    entries.push({ number: next, event, bytes: size });
    next += 1;
    bytes += size;
    while (entries.length > MAX_WINDOW_EVENTS || bytes > MAX_WINDOW_BYTES) {
      const gone = entries.shift();
      if (gone === undefined) break;
      bytes -= gone.bytes;
      oldest = gone.number + 1;
    }
  };

  return {
    append,
    omit() {
      omitted += 1;
      next += 1;
    },
    page(cursor, limit) {
      if (cursor > next) {
        throw new ReinsError(
          'cursor_invalid',
          `cursor is ${cursor} and the run has had ${next} events; use next_cursor of an earlier page, or 0.`,
        );
      }
      const from = Math.max(cursor, oldest);
      const left = entries.filter(({ number }) => number >= from);
      const page: Entry[] = [];
      let pageBytes = 0;
      for (const entry of left.slice(0, limit)) {
        if (page.length > 0 && pageBytes + entry.bytes > MAX_PAGE_BYTES) break;
        page.push(entry);
        pageBytes += entry.bytes;
      }
      const hasMore = page.length < left.length;
      const last = page.at(-1);
      return {
        events: page.map(({ event }) => event),
        nextCursor: hasMore && last !== undefined ? last.number + 1 : next,
        hasMore,
        missedEvents: from - cursor,
        omittedEvents: omitted,
      };
    },
  };
}
