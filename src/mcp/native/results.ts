import type { CallToolResult } from '@modelcontextprotocol/server';
import { ReinsError } from '../../base/reins-error.ts';
import type { SessionState } from '../../session/session-state.ts';
import { type ContentMode, toToolResult } from '../to-tool-result.ts';
import { emptyState } from './output-schema.ts';

export function toStateResult(
  state: SessionState,
  mode: ContentMode,
  protocol: string | undefined,
): CallToolResult {
  return toToolResult({ ...state }, describeState(state), mode, protocol);
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
  return { ...toToolResult(structured, `${code}: ${message}`, mode, protocol), isError: true };
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
