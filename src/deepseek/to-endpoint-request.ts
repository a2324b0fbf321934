import * as z from 'zod';
import { parseJson } from '../base/parse-json.ts';
import { unwrapPrompt } from '../claude/request-markers.ts';

/**
 * The fields of a request of Claude Code's that go to the endpoint. Whatever names the user, the session or a feature
 * of another provider stays here; so does its system prompt, which tells of a directory inside its own confinement.
 */
const forwardedSchema = z.object({
  max_tokens: z.json().optional(),
  tools: z.json().optional(),
  tool_choice: z.json().optional(),
  stop_sequences: z.json().optional(),
  temperature: z.json().optional(),
  top_p: z.json().optional(),
  messages: z.array(
    z.looseObject({
      role: z.enum(['user', 'assistant', 'system']),
      content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
    }),
  ),
});

export interface EndpointRequest {
  readonly model: string;
  readonly system: string;
}

/**
 * The body for the endpoint: the conversation as it is, thinking included, which the endpoint wants back with each
 * tool call; model and system prompt are the given ones whatever was asked for, thinking is as the endpoint has it by
 * itself, and the answer is streamed. Undefined for a body that is no Messages request.
 */
export function toEndpointRequest(
  body: string,
  { model, system }: EndpointRequest,
): string | undefined {
  const parsed = forwardedSchema.safeParse(parseJson(body));
  if (!parsed.success) return undefined;
  const { messages, ...fields } = parsed.data;
  return JSON.stringify({
    ...fields,
    model,
    system,
    stream: true,
    messages: messages.map(({ role, content }) => ({
      // The endpoint knows two roles.
      role: role === 'system' ? 'user' : role,
      content: typeof content === 'string' ? content : content.map(withoutMarker),
    })),
  });
}

/** The line that marks a task is for Reins, not for a model. */
function withoutMarker(block: { readonly type: string }): object {
  const text = z.object({ text: z.string() }).safeParse(block).data?.text;
  const task = text === undefined ? undefined : unwrapPrompt(text);
  return task === undefined ? block : { ...block, text: task.prompt };
}
