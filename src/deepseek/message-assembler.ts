import * as z from 'zod';
import type { JsonObject } from '../base/canonical-json.ts';
import { parseJson } from '../base/parse-json.ts';

/** An answer of the endpoint's, whole. */
export interface EndpointMessage extends TokenCounts {
  /** Thinking as it came, which has to go back with the conversation unchanged. */
  readonly thinking: readonly JsonObject[];
  readonly text: string;
  readonly toolUses: readonly { readonly name: string; readonly input: JsonObject }[];
  readonly stopReason: string;
}

export type Assembly =
  | { readonly kind: 'message'; readonly message: EndpointMessage }
  /** The stream ended, or broke a rule, before there was a whole message. */
  | { readonly kind: 'incomplete'; readonly reason: string }
  /** The endpoint said in the stream that it failed. */
  | { readonly kind: 'error'; readonly type: string };

export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const tokens = z.int().nonnegative().catch(0);
const usageSchema = z
  .looseObject({
    input_tokens: tokens,
    cache_read_input_tokens: tokens,
    cache_creation_input_tokens: tokens,
    output_tokens: tokens,
  })
  .optional()
  .catch(undefined);

const blockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string().catch('') }),
  z.object({
    type: z.literal('thinking'),
    thinking: z.string().catch(''),
    signature: z.string().catch(''),
  }),
  z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.object({ type: z.literal('tool_use'), name: z.string(), input: z.json().optional() }),
]);

const deltaSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text_delta'), text: z.string() }),
  z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
  z.object({ type: z.literal('signature_delta'), signature: z.string() }),
  z.object({ type: z.literal('input_json_delta'), partial_json: z.string() }),
]);

const EVENT_TYPES = [
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
  'error',
];
const typeSchema = z.looseObject({ type: z.string() });

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.looseObject({ usage: usageSchema }) }),
  z.object({
    type: z.literal('content_block_start'),
    index: z.int().nonnegative(),
    content_block: blockSchema,
  }),
  z.object({
    type: z.literal('content_block_delta'),
    index: z.int().nonnegative(),
    delta: deltaSchema,
  }),
  z.object({ type: z.literal('content_block_stop'), index: z.int().nonnegative() }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.looseObject({ stop_reason: z.string().nullish() }),
    usage: usageSchema,
  }),
  z.object({ type: z.literal('message_stop') }),
  z.object({ type: z.literal('ping') }),
  z.object({ type: z.literal('error'), error: z.looseObject({ type: z.string().catch('') }) }),
]);

type Block = z.infer<typeof blockSchema> & { json: string; isWhole: boolean };

const inputSchema = z.record(z.string(), z.json());

/** Puts the events of a streamed answer together. Nothing of it counts until all of it has come. */
export class MessageAssembler {
  readonly #blocks: Block[] = [];
  #stopReason: string | undefined;
  #inputTokens = 0;
  #outputTokens = 0;
  #state: 'open' | 'whole' = 'open';
  #fault: Assembly | undefined;

  /** Whether nothing that could still come would change anything. */
  get isDone(): boolean {
    return this.#fault !== undefined || this.#state === 'whole';
  }

  /** What the endpoint has counted so far, whether there will be a message or not. */
  get tokens(): TokenCounts {
    return { inputTokens: this.#inputTokens, outputTokens: this.#outputTokens };
  }

  /** Takes the data of one event. Kinds of events that are not known are left alone, as the API asks of its clients. */
  take(data: string): void {
    if (this.isDone) return;
    const value = parseJson(data);
    const type = typeSchema.safeParse(value).data?.type;
    if (type !== undefined && !EVENT_TYPES.includes(type)) return;
    const parsed = eventSchema.safeParse(value);
    if (!parsed.success) {
      this.#fail('it has an event that is not of the Messages API');
      return;
    }
    const event = parsed.data;
    switch (event.type) {
      case 'message_start':
        this.#count(event.message.usage);
        return;
      case 'content_block_start':
        if (event.index !== this.#blocks.length) this.#fail('its blocks are out of order');
        else this.#blocks.push({ ...event.content_block, json: '', isWhole: false });
        return;
      case 'content_block_delta':
        this.#extend(event.index, event.delta);
        return;
      case 'content_block_stop': {
        const block = this.#blocks[event.index];
        if (block === undefined || block.isWhole) this.#fail('it ends a block that is not open');
        else block.isWhole = true;
        return;
      }
      case 'message_delta':
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        this.#count(event.usage);
        return;
      case 'message_stop':
        this.#state = 'whole';
        return;
      case 'ping':
        return;
      case 'error':
        this.#fault = { kind: 'error', type: event.error.type };
    }
  }

  /** What has come. To be asked once the stream has ended. */
  finish(): Assembly {
    if (this.#fault !== undefined) return this.#fault;
    if (this.#state !== 'whole' || this.#stopReason === undefined) {
      return { kind: 'incomplete', reason: 'it stopped in the middle' };
    }
    if (this.#blocks.some(({ isWhole }) => !isWhole)) {
      return { kind: 'incomplete', reason: 'it has a block without an end' };
    }
    const toolUses: EndpointMessage['toolUses'][number][] = [];
    for (const block of this.#blocks) {
      if (block.type !== 'tool_use') continue;
      const input = parseInput(block);
      if (input === undefined) {
        return { kind: 'incomplete', reason: 'a tool call has arguments that are no JSON object' };
      }
      toolUses.push({ name: block.name, input });
    }
    return {
      kind: 'message',
      message: {
        thinking: this.#blocks.flatMap(toThinking),
        text: this.#blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        toolUses,
        stopReason: this.#stopReason,
        ...this.tokens,
      },
    };
  }

  #extend(index: number, delta: z.infer<typeof deltaSchema>): void {
    const block = this.#blocks[index];
    if (block === undefined || block.isWhole) {
      this.#fail('it extends a block that is not open');
      return;
    }
    if (block.type === 'text' && delta.type === 'text_delta') block.text += delta.text;
    else if (block.type === 'thinking' && delta.type === 'thinking_delta')
      block.thinking += delta.thinking;
    else if (block.type === 'thinking' && delta.type === 'signature_delta')
      block.signature += delta.signature;
    else if (block.type === 'tool_use' && delta.type === 'input_json_delta')
      block.json += delta.partial_json;
    else this.#fail(`it extends a ${block.type} block by a ${delta.type}`);
  }

  /** Later counts replace earlier ones: each is of the whole message so far. */
  #count(usage: z.infer<typeof usageSchema>): void {
    if (usage === undefined) return;
    const input =
      usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
    this.#inputTokens = Math.max(this.#inputTokens, input);
    this.#outputTokens = Math.max(this.#outputTokens, usage.output_tokens);
  }

  #fail(reason: string): void {
    this.#fault = { kind: 'incomplete', reason };
  }
}

/** Undefined for what is no JSON object, and for one that is nested without end. */
function parseInput(block: Extract<Block, { type: 'tool_use' }>): JsonObject | undefined {
  try {
    const given = block.json === '' ? block.input || {} : parseJson(block.json);
    return inputSchema.safeParse(given).data;
  } catch {
    return undefined;
  }
}

function toThinking(block: Block): JsonObject[] {
  if (block.type === 'thinking') {
    const { type, thinking, signature } = block;
    return [{ type, thinking, signature }];
  }
  return block.type === 'redacted_thinking' ? [{ type: block.type, data: block.data }] : [];
}
