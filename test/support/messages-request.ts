/** A Messages request as Claude Code's agent loop sends it, with the blocks given as its messages. */
export function messagesRequest(
  messages: readonly { role: 'user' | 'assistant'; content: unknown }[],
  over: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    model: 'claude-test',
    max_tokens: 1000,
    stream: true,
    tools: [{ name: 'mcp__executor__Read', input_schema: { type: 'object' } }],
    messages,
    ...over,
  };
}

export const text = (value: string): Record<string, unknown> => ({ type: 'text', text: value });
