import * as z from 'zod';
import { MAX_WINDOW_EVENTS } from '../../delegate/event-window.ts';
import { toInputSchema } from '../to-input-schema.ts';
import { READ_ONLY } from '../tool-annotations.ts';
import { EVENTS_OUTPUT } from './output-schemas.ts';
import { runId } from './parameters.ts';
import { defineDelegateTool } from './tool.ts';

const DEFAULT_LIMIT = 64;

const input = z.strictObject({
  run_id: runId,
  cursor: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe('next_cursor of the page before. Default 0, the beginning.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_WINDOW_EVENTS)
    .optional()
    .describe(`How many events at most. Default ${DEFAULT_LIMIT}. A page ends at 64 KiB as well.`),
});

export const eventsTool = defineDelegateTool({
  name: 'claude.run.events',
  description:
    "Reads a page of a run's native stream-json events, oldest first. The latest 256 events and 256 KiB are held: missed_events says how many before this page are gone, omitted_events how many of the run were too long to be held. The outcome of a run is in claude.run.result, whose final_event is held apart. Changes nothing.",
  annotations: READ_ONLY,
  risk: 'read-only',
  continues: true,
  inputSchema: toInputSchema(input),
  outputSchema: EVENTS_OUTPUT,
  input,
  call({ run_id: id, cursor, limit }, { registry }) {
    const run = registry.find(id);
    const page = run.events.page(cursor ?? 0, limit ?? DEFAULT_LIMIT);
    const events = page.events.map((text) => z.json().parse(JSON.parse(text)));
    return {
      result: {
        run_id: run.id,
        events,
        next_cursor: page.nextCursor,
        has_more: page.hasMore,
        missed_events: page.missedEvents,
        omitted_events: page.omittedEvents,
      },
      isError: false,
      line: `${events.length} events; the next page begins at ${page.nextCursor}.`,
    };
  },
});
