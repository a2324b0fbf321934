import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { speakJsonRpc } from '../support/json-rpc.ts';
import { createTestHome, processesOf, type TestHome } from '../support/test-home.ts';

const TOOLS = [
  'native_session_start',
  'native_session_reply_and_wait',
  'native_session_continue',
  'native_session_status',
  'native_session_recover',
  'native_session_stop',
];

let home: TestHome;
let gateway: ConnectedGateway | undefined;

beforeEach(() => {
  home = createTestHome();
});

afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await home.dispose();
});

test('N1 N2 N4 there are exactly six tools, every parameter described, schemas and annotations complete', async () => {
  gateway = await connectStdio(home);
  const { tools } = await gateway.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(TOOLS);
  const hints = Object.fromEntries(
    tools.map(({ name, annotations }) => [
      name.replace('native_session_', ''),
      [annotations?.readOnlyHint, annotations?.destructiveHint, annotations?.idempotentHint],
    ]),
  );
  expect(hints).toEqual({
    start: [false, false, true],
    reply_and_wait: [false, true, true],
    continue: [false, false, true],
    status: [true, false, true],
    recover: [false, false, true],
    stop: [false, true, true],
  });
  for (const tool of tools) {
    expect(tool.inputSchema['additionalProperties']).toBe(false);
    expect(tool.outputSchema?.required).toHaveLength(24);
    for (const [name, schema] of Object.entries(tool.inputSchema.properties ?? {})) {
      expect(schema, `${tool.name}.${name}`).toHaveProperty('description');
    }
    const siblings = TOOLS.filter((name) => name !== tool.name && tool.description?.includes(name));
    expect(siblings, tool.name).not.toEqual([]);
  }
});

test('N9 F40 descriptions and instructions are neutral statements, and the list is small', async () => {
  gateway = await connectStdio(home);
  const { tools } = await gateway.client.listTools();
  const instructions = gateway.client.getInstructions() ?? '';
  const texts = [instructions, JSON.stringify(tools)];
  for (const text of texts) {
    expect(text).not.toMatch(
      /\b(MUST|NEVER|ONLY|ALWAYS|IMPORTANT|CRITICAL|Do not|Don't|You must)\b/,
    );
  }
  expect(instructions.slice(0, 512)).toMatch(
    /native_session_start.*native_session_reply_and_wait/s,
  );
  expect(JSON.stringify({ tools }).length).toBeLessThanOrEqual(16 * 1024);
});

test('N1 other tools and unknown methods are refused by the server itself', async () => {
  const peer = await speakJsonRpc(home, '2025-06-18');
  for (const name of ['Read', 'Bash', 'agent_session_start', 'native_session', '']) {
    expect(await peer.request('tools/call', { name, arguments: {} })).toMatchObject({
      error: { code: -32602 },
    });
  }
  for (const method of [
    'prompts/list',
    'resources/list',
    'claude/run',
    'tools/execute',
    'sampling/createMessage',
  ]) {
    expect(await peer.request(method, {})).toMatchObject({ error: { code: -32601 } });
  }
  expect(await peer.request('ping', {})).toMatchObject({ result: {} });
  await peer.close();
});

test('N5 no Claude Code process and no session exist before one is started', async () => {
  gateway = await connectStdio(home);
  await gateway.client.listTools();
  expect(processesOf(home.root)).toEqual([gateway.pid]);
  expect(readdirSync(join(home.state, 'sessions'))).toEqual([]);
});

test('N9 content is one line where structured results are known, and the whole state where they are not', async () => {
  const ask = {
    name: 'native_session_status',
    arguments: { native_session_id: 'x', lease_id: 'y' },
  };
  const textFor = async (protocol: string, args: readonly string[]): Promise<string> => {
    const peer = await speakJsonRpc(home, protocol, args);
    const answer = await peer.request('tools/call', ask);
    await peer.close();
    return answer.result?.content[0]?.text ?? '';
  };
  expect(await textFor('2025-06-18', [])).toMatch(/^session_unknown: [^\n]+$/);
  expect(await textFor('2025-11-25', [])).toMatch(/^session_unknown: [^\n]+$/);
  expect(JSON.parse(await textFor('2025-03-26', []))).toMatchObject({
    error: { code: 'session_unknown' },
  });
  expect(JSON.parse(await textFor('2024-11-05', []))).toMatchObject({
    error: { code: 'session_unknown' },
  });
  expect(JSON.parse(await textFor('2025-11-25', ['--content', 'full']))).toMatchObject({
    error: { code: 'session_unknown' },
  });
});

test('N9 a refused call has the shape that the output schema promises', async () => {
  gateway = await connectStdio(home);
  const { tools } = await gateway.client.listTools();
  const refused = await gateway.client.callTool({
    name: 'native_session_status',
    arguments: { native_session_id: 'x', lease_id: 'y' },
  });
  expect(refused.isError).toBe(true);
  const required = z.array(z.string()).parse(tools[3]?.outputSchema?.required);
  expect(Object.keys(refused.structuredContent ?? {})).toEqual(expect.arrayContaining(required));
});

test('N47 state is private to the user, and a relative state directory is refused', async () => {
  gateway = await connectStdio(home);
  await gateway.client.listTools();
  for (const name of ['', 'run', 'sessions']) {
    expect(statSync(join(home.state, name)).mode & 0o777).toBe(0o700);
  }
  for (const name of ['state.db', 'secret.key']) {
    expect(statSync(join(home.state, name)).mode & 0o777).toBe(0o600);
  }
  const relative = createTestHome({ REINS_STATE_DIR: 'here' });
  await expect(connectStdio(relative)).rejects.toThrow();
  expect(existsSync('here')).toBe(false);
  await relative.dispose();
});
