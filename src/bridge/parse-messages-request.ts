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

/** Unknown fields pass: a new one in the request must not stop a session. */
const requestSchema = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  messages: z.array(messageSchema).min(1),
  tools: z.array(z.looseObject({ name: z.string().optional() })).optional(),
});
export type RequestMessage = z.infer<typeof messageSchema>;

export interface MessagesRequest {
  readonly model: string;
  /** Only an explicit `true` asks for server-sent events. */
  readonly stream: boolean;
  readonly messages: readonly RequestMessage[];
  readonly toolNames: readonly string[];
}

/** A Messages API request body, or undefined when it is none. */
export function parseMessagesRequest(body: string): MessagesRequest | undefined {
  const parsed = requestSchema.safeParse(parseJson(body));
  if (!parsed.success) return undefined;
  return {
    model: parsed.data.model,
    stream: parsed.data.stream === true,
    messages: parsed.data.messages,
    toolNames: (parsed.data.tools ?? []).flatMap((tool) => tool.name ?? []),
  };
}
