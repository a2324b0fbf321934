import type { JsonObject } from '../../base/canonical-json.ts';

const orNull = (type: string): JsonObject => ({ type: [type, 'null'] });
/**
 * A value or null that no client acts on. Its type is left out, because the list of tools goes into every client's
 * context and this schema is in it six times.
 */
const ANY: JsonObject = {};

/**
 * N4: the shape of every structured result. A refused call has the same keys, all null but for `error`, because
 * clients check an error against this schema as well.
 */
const ALWAYS: { [name: string]: JsonObject } = {
  route: { const: 'chatgpt-main' },
  fallback: { const: 'none' },
  replay: { type: 'boolean' },
  status: orNull('string'),
  native_session_id: orNull('string'),
  claude_session_id: ANY,
  lease_id: orNull('string'),
  lease_expires_at: ANY,
  revision: orNull('integer'),
  session_label: ANY,
  capability_profile: ANY,
  subagent_policy: ANY,
  working_directory: ANY,
  source_directory: ANY,
  workspace: ANY,
  runtime_attached: ANY,
  recovery_required: ANY,
  network_boundary: ANY,
  current_run: ANY,
  pending_turn: orNull('object'),
  skill_snapshot: ANY,
  deepseek_route: ANY,
  deepseek_subsessions: { type: 'array' },
  active_deepseek_subsession_id: ANY,
};

const SOMETIMES: { [name: string]: JsonObject } = {
  terminal: { type: 'boolean' },
  last_result: { type: 'object' },
  launch_error: { type: 'object' },
  stop_request: { type: 'object' },
  recovery_token: { type: 'string' },
  error: { type: 'object' },
};

export const OUTPUT_SCHEMA = {
  type: 'object' as const,
  properties: { ...ALWAYS, ...SOMETIMES },
  required: Object.keys(ALWAYS),
};

/** Every key that is always there, with the value that says nothing. */
export function emptyState(): JsonObject {
  return {
    ...Object.fromEntries(Object.keys(ALWAYS).map((name) => [name, null])),
    route: 'chatgpt-main',
    fallback: 'none',
    replay: false,
    deepseek_subsessions: [],
  };
}
