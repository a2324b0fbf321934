import * as z from 'zod';
import { parseJson } from '../base/parse-json.ts';

/** Blocks that carry something for the client; every other type is kept as `other`. */
const textBlock = z.looseObject({ type: z.literal('text'), text: z.string() });
const toolUseBlock = z.looseObject({ type: z.literal('tool_use'), id: z.string() });
const toolResultBlock = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  is_error: z.boolean().optional(),
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))])
    .optional(),
});
const otherBlock = z
  .looseObject({ type: z.string() })
  .transform((block) => ({ type: 'other' as const, of: block.type }));

const blockSchema = z.union([textBlock, toolUseBlock, toolResultBlock, otherBlock]);
export type ContentBlock = z.infer<typeof blockSchema>;

const messageSchema = z.looseObject({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([
    z.string().transform((text): ContentBlock[] => [{ type: 'text', text }]),
    z.array(blockSchema),
  ]),
});
export type RequestMessage = z.infer<typeof messageSchema>;

/** Unknown fields pass: a new one in the request must not stop a session. */
const requestSchema = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  messages: z.array(z.unknown()).min(1),
  tools: z.array(z.looseObject({ name: z.string().optional() })).optional(),
});

export interface MessagesRequest {
  readonly model: string;
  /** Only an explicit `true` asks for server-sent events. */
  readonly stream: boolean;
  readonly toolNames: readonly string[];
  readonly messageCount: number;
  /**
   * The message at this place. A request repeats the whole conversation, of which a turn needs the end alone, so each
   * one is parsed when it is asked for. Throws when it is no message.
   */
  message(index: number): RequestMessage;
}

/** A Messages API request body, or undefined when it is none. */
export function parseMessagesRequest(body: string): MessagesRequest | undefined {
  const parsed = requestSchema.safeParse(parseJson(body));
  if (!parsed.success) return undefined;
  const { messages, model, stream, tools } = parsed.data;
  if (!messageSchema.safeParse(messages.at(-1)).success) return undefined;
  return {
    model,
    stream: stream === true,
    toolNames: (tools ?? []).flatMap((tool) => tool.name ?? []),
    messageCount: messages.length,
    message: (index) => messageSchema.parse(messages[index]),
  };
}
