import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Json, JsonObject } from '../base/canonical-json.ts';
import { estimateTokens } from './estimate-tokens.ts';

/** What the model decided: text first, then calls, each with the id under which it was authorised. */
export interface BridgeReply {
  /** Blocks that go before the text as they are. Only a response that is held in silence can begin with them. */
  readonly thinking?: readonly JsonObject[];
  readonly text: string;
  readonly toolUses: readonly {
    readonly id: string;
    readonly name: string;
    readonly input: JsonObject;
  }[];
}

export interface HeldRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly bytes: number;
}

/** An HTTP response that is kept open until the model has answered. */
export interface HeldResponse {
  /** Writes the whole answer in one burst and ends the response. Does nothing once the asker has gone. */
  answer(reply: BridgeReply): void;
  readonly open: boolean;
}

/**
 * Opens the response to a model request. A streaming one is answered at once with a text block that stays open, and
 * an empty piece of text every `heartbeatMs` keeps every watchdog of Claude Code's quiet for as long as it takes.
 * A tool call runs as soon as its block has arrived, so none is written before the whole reply is known and durable.
 * With null in place of the milliseconds, nothing at all is written before.
 */
export function holdResponse(
  response: ServerResponse,
  request: HeldRequest,
  heartbeatMs: number | null,
): HeldResponse {
  if (!request.stream) return holdDocument(response, request);
  return heartbeatMs === null
    ? holdInSilence(response, request)
    : holdStream(response, request, heartbeatMs);
}

function holdStream(
  response: ServerResponse,
  request: HeldRequest,
  heartbeatMs: number,
): HeldResponse {
  const inputTokens = estimateTokens(request.bytes);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.write(
    event('message_start', { message: messageHead(request.model, inputTokens) }) +
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
      textDelta(''),
  );
  const heartbeat = setInterval(() => response.write(textDelta('')), heartbeatMs);
  response.once('close', () => clearInterval(heartbeat));
  return {
    get open() {
      return !response.writableEnded && !response.destroyed;
    },
    answer(reply) {
      clearInterval(heartbeat);
      if (response.writableEnded || response.destroyed) return;
      response.end(
        textDelta(reply.text) +
          event('content_block_stop', { index: 0 }) +
          toolUseBlocks(reply, 1) +
          messageEnd(reply, inputTokens),
      );
    },
  };
}

function holdInSilence(response: ServerResponse, request: HeldRequest): HeldResponse {
  return {
    get open() {
      return !response.writableEnded && !response.destroyed;
    },
    answer(reply) {
      if (response.writableEnded || response.destroyed) return;
      const inputTokens = estimateTokens(request.bytes);
      const thinking = reply.thinking ?? [];
      const text = reply.text === '' ? [] : [{ type: 'text', text: reply.text }];
      const first = [...thinking, ...text].map(
        (block, index) =>
          event('content_block_start', { index, content_block: emptied(block) }) +
          filling(block, index) +
          event('content_block_stop', { index }),
      );
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      response.end(
        event('message_start', { message: messageHead(request.model, inputTokens) }) +
          first.join('') +
          toolUseBlocks(reply, first.length) +
          messageEnd(reply, inputTokens),
      );
    },
  };
}

/** How the fields of a block that are streamed arrive. Those of any other block are in its start. */
const STREAMED_FIELDS = [
  ['text', 'text_delta'],
  ['thinking', 'thinking_delta'],
  ['signature', 'signature_delta'],
] as const;

function emptied(block: JsonObject): JsonObject {
  const fields = STREAMED_FIELDS.filter(([name]) => block[name] !== undefined);
  return { ...block, ...Object.fromEntries(fields.map(([name]) => [name, ''])) };
}

function filling(block: JsonObject, index: number): string {
  return STREAMED_FIELDS.filter(([name]) => block[name] !== undefined && block[name] !== '')
    .map(([name, type]) =>
      event('content_block_delta', { index, delta: { type, [name]: block[name] ?? '' } }),
    )
    .join('');
}

function toolUseBlocks(reply: BridgeReply, firstIndex: number): string {
  return reply.toolUses
    .map(
      (use, position) =>
        event('content_block_start', {
          index: firstIndex + position,
          content_block: { type: 'tool_use', id: use.id, name: use.name, input: {} },
        }) +
        event('content_block_delta', {
          index: firstIndex + position,
          delta: { type: 'input_json_delta', partial_json: JSON.stringify(use.input) },
        }) +
        event('content_block_stop', { index: firstIndex + position }),
    )
    .join('');
}

function messageEnd(reply: BridgeReply, inputTokens: number): string {
  return (
    event('message_delta', {
      delta: { stop_reason: stopReason(reply), stop_sequence: null },
      usage: { input_tokens: inputTokens, output_tokens: outputTokens(reply) },
    }) + event('message_stop', {})
  );
}

function holdDocument(response: ServerResponse, request: HeldRequest): HeldResponse {
  return {
    get open() {
      return !response.writableEnded && !response.destroyed;
    },
    answer(reply) {
      if (response.writableEnded || response.destroyed) return;
      const inputTokens = estimateTokens(request.bytes);
      const text = reply.text === '' ? [] : [{ type: 'text', text: reply.text }];
      const uses = reply.toolUses.map((use) => ({ type: 'tool_use', ...use }));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          ...messageHead(request.model, inputTokens),
          content: [...(reply.thinking ?? []), ...text, ...uses],
          stop_reason: stopReason(reply),
          usage: { input_tokens: inputTokens, output_tokens: outputTokens(reply) },
        }),
      );
    },
  };
}

/** Never taken from a client: a wrong reason stops Claude Code's loop. */
function stopReason(reply: BridgeReply): string {
  return reply.toolUses.length > 0 ? 'tool_use' : 'end_turn';
}

function outputTokens(reply: BridgeReply): number {
  const inputs = reply.toolUses.map((use) => JSON.stringify(use.input)).join('');
  return estimateTokens(Buffer.byteLength(reply.text) + Buffer.byteLength(inputs));
}

function messageHead(model: string, inputTokens: number): { [key: string]: Json } {
  return {
    id: `msg_${randomBytes(12).toString('hex')}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: inputTokens, output_tokens: 1 },
  };
}

function textDelta(text: string): string {
  return event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
}

function event(type: string, data: { [key: string]: Json }): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
