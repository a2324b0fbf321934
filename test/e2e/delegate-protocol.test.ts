import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Delegate } from '../support/delegate.ts';
import { installFake } from '../support/fake-claude.ts';
import { REINS_BIN } from '../support/gateway.ts';
import { speakJsonRpc } from '../support/json-rpc.ts';
import { listAll } from '../support/run-processes.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

const TOOLS = [
  'claude.run',
  'claude.run.start',
  'claude.run.list',
  'claude.run.result',
  'claude.run.events',
  'claude.run.cancel',
  'claude.run.release',
];

let home: TestHome;

beforeEach(() => {
  home = createTestHome();
});

afterEach(async () => {
  await home.dispose();
});

const fake = (name: string): Record<string, string> => ({ CLAUDE_BIN: installFake(home, name) });

async function speak(protocol: string, name = 'well-behaved') {
  const withFake = { ...home, env: { ...home.env, ...fake(name) } };
  return speakJsonRpc(withFake, protocol, [], 'delegate');
}

test.each([
  ['2024-11-05', '2024-11-05'],
  ['2025-03-26', '2025-03-26'],
  ['2025-06-18', '2025-06-18'],
  ['2025-11-25', '2025-11-25'],
  // Not supported: answered with a date that is, and not with an echo.
  ['2024-10-07', '2025-11-25'],
  ['2099-01-01', '2025-11-25'],
  ['', '2025-11-25'],
])('D2 a client that proposes %j gets %s', async (proposed, got) => {
  const peer = await speak(proposed);
  expect(peer.protocolVersion).toBe(got);
  expect(await peer.request('ping', {})).toMatchObject({ result: {} });
  await peer.close();
});

test('B8 D2 a client of the newest revision is served without a handshake', async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [REINS_BIN, 'delegate'],
    env: { ...home.env, ...fake('well-behaved') },
    stderr: 'ignore',
  });
  const client = new Client(
    { name: 'reins-test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(transport);
  expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(TOOLS);
  const answer = await client.callTool({ name: 'claude.run', arguments: { prompt: 'x' } });
  expect(answer.structuredContent).toMatchObject({ result: { state: 'completed' } });
  await client.close();
});

test('D2 D3 other tools, methods and lines that are no messages are refused, and the next call is served', async () => {
  const peer = await speak('2025-06-18');
  for (const name of ['claude', 'claude.run.', 'Bash', 'native_session_start', '']) {
    expect(await peer.request('tools/call', { name, arguments: {} })).toMatchObject({
      error: { code: -32602 },
    });
  }
  for (const method of ['prompts/list', 'claude.run', 'tools/execute', 'resources/subscribe']) {
    expect(await peer.request(method, {}), method).toMatchObject({ error: { code: -32601 } });
  }
  expect(await peer.request('resources/read', { uri: 'file:///etc/passwd' })).toMatchObject({
    error: { code: -32602 },
  });
  for (const line of ['', 'no JSON', '{}', '[]', '7', '{"jsonrpc":"2.0"', '\u0000'])
    peer.write(line);
  expect(await peer.request('tools/list', {})).toMatchObject({ result: {} });
  await peer.close();
});

test('D2 D14 a call that is cancelled gets no answer, and its run is ended', async () => {
  const peer = await speak('2025-06-18', 'silent-mid-turn');
  const call = JSON.stringify({
    jsonrpc: '2.0',
    id: 'to-be-cancelled',
    method: 'tools/call',
    params: { name: 'claude.run', arguments: { prompt: 'x' } },
  });
  peer.write(call);
  const running = async () =>
    JSON.stringify(await peer.request('tools/call', { name: 'claude.run.list', arguments: {} }));
  while (!(await running()).includes('"state":"running"'));
  peer.write(
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'to-be-cancelled', reason: 'no longer wanted' },
    }),
  );
  while (!(await running()).includes('"state":"cancelled"'));
  await sleep(200);
  expect(peer.lines.filter((line) => line.includes('"to-be-cancelled"'))).toEqual([]);
  await peer.close();
});

test('D3 the tools are exactly seven, every argument described, and the list is small', async () => {
  const delegate = await Delegate.connect(home);
  const { tools } = await delegate.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(TOOLS);
  for (const tool of tools) {
    expect(tool.inputSchema['additionalProperties'], tool.name).toBe(false);
    expect(tool.outputSchema?.required).toEqual(['result']);
    for (const [name, schema] of Object.entries(tool.inputSchema.properties ?? {})) {
      expect(schema, `${tool.name}.${name}`).toHaveProperty('description');
    }
    const siblings = TOOLS.filter((name) => name !== tool.name && tool.description?.includes(name));
    expect(siblings, tool.name).not.toEqual([]);
  }
  const hints = tools.map(({ name, annotations }) => [
    name,
    annotations?.readOnlyHint,
    annotations?.destructiveHint,
  ]);
  expect(hints).toEqual([
    ['claude.run', false, true],
    ['claude.run.start', false, true],
    ['claude.run.list', true, false],
    ['claude.run.result', true, false],
    ['claude.run.events', true, false],
    ['claude.run.cancel', false, true],
    ['claude.run.release', false, true],
  ]);
  const texts = [delegate.client.getInstructions() ?? '', JSON.stringify(tools)];
  for (const text of texts) {
    expect(text).not.toMatch(
      /\b(MUST|NEVER|ONLY|ALWAYS|IMPORTANT|CRITICAL|Do not|Don't|You must)\b/,
    );
  }
  expect(texts[0]?.slice(0, 512)).toMatch(/claude\.run .*claude\.run\.result/s);
  expect(JSON.stringify({ tools }).length).toBeLessThanOrEqual(16 * 1024);
  await delegate.close();
});

test('D3 every answer fits the schema that is promised, refusals too', async () => {
  // The client checks each against the schema of its tool, once it has listed them.
  const delegate = await Delegate.connect(home, fake('well-behaved'));
  await delegate.client.listTools();
  const { run_id: id } = await delegate.run();
  await delegate.start();
  await delegate.list();
  await delegate.result(id);
  await delegate.events(id);
  await delegate.cancel(id);
  await delegate.call('claude.run.release', { run_id: id });
  for (const name of TOOLS) {
    expect((await delegate.call(name, { nothing: 1 })).isError, name).toBe(true);
  }
  await delegate.close();
});

test('D3 content is one line where structured results are known, and the whole result where they are not', async () => {
  const textFor = async (protocol: string): Promise<string> => {
    const peer = await speak(protocol);
    const answer = await peer.request('tools/call', {
      name: 'claude.run',
      arguments: { prompt: 'x' },
    });
    await peer.close();
    return answer.result?.content[0]?.text ?? '';
  };
  expect(await textFor('2025-06-18')).toMatch(/^Run run_[\w-]{20} has completed: done$/);
  expect(JSON.parse(await textFor('2025-03-26'))).toMatchObject({ result: { state: 'completed' } });
});

test('N5 no Claude Code and no supervisor exist before the first run', async () => {
  const delegate = await Delegate.connect(home);
  await delegate.client.listTools();
  expect(listAll().filter(({ parentPid }) => parentPid === delegate.pid)).toEqual([]);
  await delegate.close();
});
