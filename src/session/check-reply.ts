import type { JsonObject } from '../base/canonical-json.ts';
import { ReinsError } from '../base/reins-error.ts';

/** Text and all tool calls of one reply together, in bytes of UTF-8. The seed's limit. */
export const MAX_REPLY_BYTES = 768 * 1024;
/** More calls than any model writes at once; it bounds what one reply can authorise. */
export const MAX_CALLS_PER_REPLY = 64;

export interface ToolCall {
  readonly tool: string;
  readonly input: JsonObject;
}

/** Checks one call against the session's tool set and the tool's schema. Throws a coded error that names the call. */
export type ToolCallCheck = (call: ToolCall, position: number) => void;

export interface Reply {
  readonly text: string;
  readonly calls: readonly ToolCall[];
}

/** Accepts a reply whole or throws; nothing has been stored when it does. */
export function checkReply(reply: Reply, checkCall: ToolCallCheck): void {
  const bytes =
    Buffer.byteLength(reply.text) +
    (reply.calls.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(reply.calls)));
  if (bytes > MAX_REPLY_BYTES) {
    throw new ReinsError(
      'reply_too_large',
      `text plus tool_calls are ${bytes} bytes and the limit is ${MAX_REPLY_BYTES}; send less in one reply, for example several smaller Edit calls over several turns.`,
    );
  }
  if (reply.calls.length > MAX_CALLS_PER_REPLY) {
    throw new ReinsError(
      'reply_too_large',
      `tool_calls has ${reply.calls.length} entries and the limit is ${MAX_CALLS_PER_REPLY}; send the rest after the next turn.`,
    );
  }
  if (reply.text.trim() === '' && reply.calls.length === 0) {
    throw new ReinsError(
      'reply_empty',
      'The reply has neither text nor tool_calls; give text to finish the run, or tool_calls to act.',
    );
  }
  reply.calls.forEach(checkCall);
}
