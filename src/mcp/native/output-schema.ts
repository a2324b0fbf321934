import type { JsonObject } from '../../base/canonical-json.ts';

const nullable = (type: string): JsonObject => ({ type: [type, 'null'] });

/**
 * N4: the shape of every structured result. A refused call has the same keys, all null but for `error`, because
 * clients check an error against this schema as well.
 */
const ALWAYS: { [name: string]: JsonObject } = {
  route: { const: 'chatgpt-main' },
  fallback: { const: 'none' },
  replay: { type: 'boolean' },
  status: nullable('string'),
  native_session_id: nullable('string'),
  claude_session_id: nullable('string'),
  lease_id: nullable('string'),
  lease_expires_at: nullable('string'),
  revision: nullable('integer'),
  session_label: nullable('string'),
  capability_profile: nullable('string'),
  subagent_policy: nullable('string'),
  working_directory: nullable('string'),
  source_directory: nullable('string'),
  workspace: nullable('object'),
  runtime_attached: nullable('boolean'),
  recovery_required: nullable('boolean'),
  network_boundary: nullable('object'),
  current_run: nullable('object'),
  pending_turn: nullable('object'),
  skill_snapshot: nullable('object'),
  deepseek_route: nullable('string'),
  deepseek_subsessions: { type: 'array' },
  active_deepseek_subsession_id: nullable('string'),
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
