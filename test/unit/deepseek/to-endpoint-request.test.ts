import { expect, test } from 'vitest';
import { mintRunId } from '../../../src/base/ids.ts';
import { wrapPrompt } from '../../../src/claude/request-markers.ts';
import { toEndpointRequest } from '../../../src/deepseek/to-endpoint-request.ts';

const TO = { model: 'deepseek-flash', system: 'Be brief.' };

test('N33 the conversation goes as it is; model and system prompt are ours, and what names anybody stays', () => {
  const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };
  const call = { type: 'tool_use', id: 'toolu_1', name: 'mcp__executor__Read', input: { a: [1] } };
  const body = {
    model: 'claude-opus-4-1',
    max_tokens: 100,
    system: [{ type: 'text', text: 'You are somebody else.' }],
    metadata: { user_id: 'session' },
    context_management: {},
    thinking: { type: 'adaptive' },
    stream: false,
    tools: [{ name: 'mcp__executor__Read' }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: wrapPrompt(mintRunId(), 'Do it.\nNow.') }] },
      { role: 'assistant', content: [thinking, call] },
      { role: 'system', content: 'Mind the gap.' },
    ],
  };
  expect(JSON.parse(toEndpointRequest(JSON.stringify(body), TO) ?? '')).toEqual({
    ...TO,
    stream: true,
    max_tokens: 100,
    tools: body.tools,
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Do it.\nNow.' }] },
      { role: 'assistant', content: [thinking, call] },
      { role: 'user', content: 'Mind the gap.' },
    ],
  });
});

test.each(['', 'null', '{}', '{"messages":[{"role":"tool","content":"x"}]}'])(
  'N33 what is no request is none: %s',
  (body) => expect(toEndpointRequest(body, TO)).toBeUndefined(),
);
