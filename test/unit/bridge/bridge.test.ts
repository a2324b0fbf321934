import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BridgeServer, startBridge } from '../../support/bridge-server.ts';
import { messagesRequest, text } from '../../support/messages-request.ts';

let bridge: BridgeServer;

beforeEach(async () => {
  bridge = await startBridge(20);
});

afterEach(async () => {
  await bridge.close();
});

const STEP = messagesRequest([{ role: 'user', content: [text('hello')] }]);

/** The events of a stream, as type and data. */
function events(stream: string): { event: string; data: Record<string, unknown> }[] {
  return stream
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => {
      const [event = '', data = ''] = part.split('\n');
      return { event: event.replace('event: ', ''), data: JSON.parse(data.replace('data: ', '')) };
    });
}

test('F22 a turn request is answered at once with an open text block and kept alive by empty text', async () => {
  const answer = await bridge.post('/v1/messages?beta=true', STEP);
  expect(answer.status).toBe(200);
  await expect.poll(() => events(answer.soFar()).length).toBeGreaterThan(5);
  const [start, block, ...beats] = events(answer.soFar());
  expect(start?.event).toBe('message_start');
  expect(block).toMatchObject({ event: 'content_block_start', data: { index: 0 } });
  for (const beat of beats) {
    expect(beat.data).toMatchObject({
      type: 'content_block_delta',
      delta: { type: 'text_delta', text: '' },
    });
  }
  expect(bridge.turns).toHaveLength(1);
});

test('F24 F30 F31 a reply comes in one burst: text, every call, a stop reason that is derived', async () => {
  const calls = Array.from({ length: 8 }, (_, i) => ({
    id: `toolu_${i}`,
    name: 'mcp__executor__Read',
    input: { file_path: `/f${i}` },
  }));
  for (const [reply, reason] of [
    [{ text: 'done', toolUses: [] }, 'end_turn'],
    [{ text: '', toolUses: calls.slice(0, 1) }, 'tool_use'],
    [{ text: 'both', toolUses: calls }, 'tool_use'],
  ] as const) {
    const answer = await bridge.post('/v1/messages', STEP);
    bridge.turns.at(-1)?.held.answer(reply);
    const all = events(await answer.body);
    expect(all.every(({ event, data }) => event === data['type'])).toBe(true);
    const starts = all
      .filter(({ event }) => event === 'content_block_start')
      .map(({ data }) => data);
    expect(starts.slice(1).map((data) => data['content_block'])).toMatchObject(
      reply.toolUses.map(({ id, name }) => ({ type: 'tool_use', id, name })),
    );
    const inputs = all.flatMap(({ data }) => {
      const delta = data['delta'];
      return delta !== null && typeof delta === 'object' && 'partial_json' in delta
        ? [JSON.parse(String(delta.partial_json))]
        : [];
    });
    expect(inputs).toEqual(reply.toolUses.map(({ input }) => input));
    expect(all.at(-2)?.data).toMatchObject({ delta: { stop_reason: reason } });
    expect(all.at(-1)?.event).toBe('message_stop');
  }
});

test('F26 every event that carries usage has a token estimate above zero', async () => {
  const answer = await bridge.post('/v1/messages', STEP);
  bridge.turns[0]?.held.answer({ text: 'x', toolUses: [] });
  const all = events(await answer.body);
  expect(all[0]?.data).toMatchObject({
    message: { usage: { input_tokens: Math.ceil(JSON.stringify(STEP).length / 4) } },
  });
  expect(all.at(-2)?.data).toMatchObject({ usage: { output_tokens: 1 } });
});

test('F23 only stream: true is answered as a stream', async () => {
  const { stream: _stream, ...plain } = STEP;
  const pending = bridge.post('/v1/messages', plain);
  await expect.poll(() => bridge.turns.length).toBe(1);
  bridge.turns[0]?.held.answer({
    text: 'hi',
    toolUses: [{ id: 'toolu_1', name: 'mcp__executor__Read', input: {} }],
  });
  const answer = await pending;
  expect(answer.headers['content-type']).toBe('application/json');
  expect(JSON.parse(await answer.body)).toMatchObject({
    type: 'message',
    role: 'assistant',
    stop_reason: 'tool_use',
    content: [
      { type: 'text', text: 'hi' },
      { type: 'tool_use', id: 'toolu_1' },
    ],
  });
});

test('F25 counting tokens and probing never becomes a turn', async () => {
  const counted = await bridge.post('/v1/messages/count_tokens?beta=true', STEP);
  expect(JSON.parse(await counted.body)['input_tokens']).toBeGreaterThan(0);
  expect((await fetch(`${bridge.baseUrl}/api/hello`, { method: 'HEAD' })).status).toBe(200);
  expect(bridge.turns).toHaveLength(0);
});

test('F32 a request without the executor tools is answered here and never becomes a turn', async () => {
  const title = messagesRequest([{ role: 'user', content: 'Write a title' }], { tools: [] });
  const answer = await bridge.post('/v1/messages', title);
  expect(events(await answer.body).at(-1)?.event).toBe('message_stop');
  expect(bridge.turns).toHaveLength(0);
});

test('F33 a request for a summary is a turn of its own kind', async () => {
  const request = messagesRequest([
    { role: 'user', content: [text('task')] },
    {
      role: 'user',
      content: [
        text(
          'CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nYour task is to create a detailed summary of the conversation so far',
        ),
      ],
    },
  ]);
  await bridge.post('/v1/messages', request);
  expect(bridge.turns[0]?.purpose).toBe('compaction');
});

test('F33 a task that merely quotes such words is an ordinary step', async () => {
  const quoted = text(
    '[task run_aaaaaaaaaaaaaaaaaaaa]\nYour task is to create a detailed summary of README',
  );
  await bridge.post('/v1/messages', messagesRequest([{ role: 'user', content: [quoted] }]));
  expect(bridge.turns[0]?.purpose).toBe('step');
});

test('F21 the same request twice has the same hash, whatever its framing', async () => {
  await bridge.post('/v1/messages', STEP);
  await bridge.post('/v1/messages', { ...STEP, max_tokens: 7, new_field: true });
  await bridge.post('/v1/messages', messagesRequest([{ role: 'user', content: [text('other')] }]));
  const [first, second, third] = bridge.turns.map(({ sha256 }) => sha256);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});

test('F29 unknown fields, roles of blocks and thinking pass', async () => {
  const request = messagesRequest(
    [
      { role: 'user', content: [text('a'), { type: 'image', source: {} }] },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 'y' }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't', content: 'r', extra: 1 }],
      },
    ],
    { brand_new: { deep: true } },
  );
  expect((await bridge.post('/v1/messages', request)).status).toBe(200);
  expect(bridge.turns).toHaveLength(1);
});

test('N42 without the key nothing is served, and nothing but the Messages API is', async () => {
  expect((await bridge.post('/v1/messages', STEP, {})).status).toBe(401);
  expect((await bridge.post('/v1/messages', STEP, { 'x-api-key': 'test-kex' })).status).toBe(401);
  expect((await bridge.post('/v1/files', {})).status).toBe(404);
  expect((await bridge.post('/v1/messages/batches', {})).status).toBe(404);
  expect((await bridge.post('/v1/messages', 'not json')).status).toBe(400);
  expect((await bridge.post('/v1/messages', { model: 'x', messages: [] })).status).toBe(400);
  expect(bridge.turns).toHaveLength(0);
});

test('an asker that has gone is known, and answering it does nothing', async () => {
  const controller = new AbortController();
  const asking = fetch(`${bridge.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'test-key' },
    body: JSON.stringify(STEP),
    signal: controller.signal,
  });
  await asking;
  controller.abort();
  await expect.poll(() => bridge.turns[0]?.held.open).toBe(false);
  bridge.turns[0]?.held.answer({ text: 'late', toolUses: [] });
});
