import type { CallToolResult } from '@modelcontextprotocol/server';
import { ReinsError } from '../../base/reins-error.ts';
import type { SessionState } from '../../session/session-state.ts';
import { emptyState } from './output-schema.ts';

/** `short`: one line beside the structured result. `full`: the whole state as JSON text as well. */
export type ContentMode = 'short' | 'full';

/** The first protocol date that knows structured results; an older client sees the text alone. */
const STRUCTURED_SINCE = '2025-06-18';

export function toStateResult(
  state: SessionState,
  mode: ContentMode,
  protocol: string | undefined,
): CallToolResult {
  return toResult({ ...state }, describeState(state), mode, protocol);
}

/** A refusal as a result that the calling model can read. An error that is not ours says nothing of its insides. */
export function toErrorResult(
  error: unknown,
  mode: ContentMode,
  protocol: string | undefined,
): CallToolResult {
  const known = error instanceof ReinsError;
  const code = known ? error.code : 'internal';
  const message = known
    ? error.message
    : 'The gateway failed in a way that it does not know; repeat the call with the same id, and look at its log if that fails too.';
  const structured = { ...emptyState(), error: { code, message } };
  return { ...toResult(structured, `${code}: ${message}`, mode, protocol), isError: true };
}

function toResult(
  structured: { [key: string]: unknown },
  line: string,
  mode: ContentMode,
  protocol: string | undefined,
): CallToolResult {
  const full = mode === 'full' || (protocol !== undefined && protocol < STRUCTURED_SINCE);
  return {
    content: [{ type: 'text', text: full ? JSON.stringify(structured) : line }],
    structuredContent: structured,
  };
}

function describeState(state: SessionState): string {
  const turn = state.pending_turn;
  if (turn !== null) {
    return `Turn ${turn.sequence} of session ${state.native_session_id} is pending (${turn.turn_id}).`;
  }
  const error = state.launch_error ?? null;
  if (error !== null)
    return `Session ${state.native_session_id} is ${state.status}: ${error.message}`;
  return `Session ${state.native_session_id} is ${state.status}.`;
}
