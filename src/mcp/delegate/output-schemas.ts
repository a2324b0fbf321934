import type { Tool } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../base/canonical-json.ts';

type OutputSchema = NonNullable<Tool['outputSchema']>;

const orNull = (type: string): JsonObject => ({ type: [type, 'null'] });

const ERROR: JsonObject = {
  type: ['object', 'null'],
  properties: { code: { type: 'string' }, message: { type: 'string' } },
  required: ['code', 'message'],
};

/** A refused call has the same keys, because clients check an error against the schema as well. */
const RUN: { [name: string]: JsonObject } = {
  run_id: orNull('string'),
  state: orNull('string'),
  completed: orNull('boolean'),
  is_error: { type: 'boolean' },
  error: ERROR,
  session_id: orNull('string'),
  final_event: orNull('object'),
  exit_code: orNull('integer'),
  signal: orNull('string'),
  cleanup_confirmed: orNull('boolean'),
  cleanup_error: ERROR,
  permission_mode: orNull('string'),
  created_at: orNull('string'),
  settled_at: orNull('string'),
  last_event: orNull('object'),
  skipped_lines: orNull('integer'),
  cancel_requested: orNull('boolean'),
};

/** What there is to say of a run when the call was about none. */
export const NO_RUN: JsonObject = {
  ...Object.fromEntries(Object.keys(RUN).map((name) => [name, null])),
  is_error: false,
};

export const RUN_OUTPUT = inResult(RUN, ['run_id', 'state', 'completed', 'final_event']);

export const LIST_OUTPUT = inResult({ runs: { type: 'array', items: { type: 'object' } } }, []);

export const EVENTS_OUTPUT = inResult(
  {
    events: { type: 'array', items: { type: 'object' } },
    next_cursor: { type: 'integer' },
    has_more: { type: 'boolean' },
    missed_events: { type: 'integer' },
    omitted_events: { type: 'integer' },
  },
  [],
);

export const RELEASE_OUTPUT = inResult(
  { run_id: orNull('string'), released: { type: 'boolean' } },
  [],
);

/** D3: every structured result is under `result`. A refusal has `is_error` and `error` there, and perhaps no more. */
function inResult(properties: { [name: string]: JsonObject }, required: string[]): OutputSchema {
  const result = {
    type: 'object' as const,
    properties: { ...properties, is_error: { type: 'boolean' }, error: ERROR },
    required,
  };
  return { type: 'object', properties: { result }, required: ['result'] };
}
