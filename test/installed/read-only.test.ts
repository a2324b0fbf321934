import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ConnectedGateway, connectHttp, connectStdio } from '../support/gateway.ts';
import { ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway;

beforeEach(() => {
  home = createTestHome();
});

afterEach(async () => {
  await gateway.close().catch(() => {});
  await home.dispose();
});

test('N48 N12 N16 N45 a read-only session on / finds, searches and reads, and survives its gateway', async () => {
  mkdirSync(join(home.project, 'src'));
  const needle = join(home.project, 'src', 'needle.txt');
  writeFileSync(needle, 'first line\nthe quick (brown) fox\nlast line\n');

  gateway = await connectStdio(home);
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: '/',
    prompt: '/find the fox',
  });
  expect(session.state.status).toBe('waiting_for_gpt');
  expect(session.state.pending_turn?.full_context).toBe(true);
  expect(session.messages.filter(({ kind }) => kind === 'task').map(({ text }) => text)).toEqual([
    '/find the fox',
  ]);
  expect(session.state.pending_turn?.tools?.map(({ name }) => name)).toEqual([
    'Read',
    'FindFiles',
    'SearchText',
    'RunCommand',
  ]);

  const [found] = await session.call({
    name: 'FindFiles',
    input: { directory: home.project, name_contains: 'needle' },
  });
  expect(found?.text).toBe(needle);
  expect(session.state.pending_turn?.full_context).toBe(false);

  const [matches] = await session.call({
    name: 'SearchText',
    input: { query: '(brown)', path: home.project },
  });
  expect(matches?.text).toContain(`${needle}:2:the quick (brown) fox`);

  const [content] = await session.call({
    name: 'Read',
    input: { file_path: needle, offset: 2, limit: 1 },
  });
  expect(content?.text).toContain('2\tthe quick (brown) fox');
  expect(content?.truncated).toBe(true);

  const before = session.state;
  await gateway.kill();
  gateway = await connectHttp(home);
  session.client = gateway.client;
  const oldLease = session.leaseId;
  await session.recover();
  expect(session.state.runtime_attached).toBe(true);
  expect(session.state.claude_session_id).toBe(before.claude_session_id);
  expect(session.turnId).toBe(before.pending_turn?.turn_id);
  expect(session.state.pending_turn?.full_context).toBe(true);
  expect(session.messages.map(({ kind }) => kind)).toEqual(['notice', 'task', 'tool_result']);
  expect(session.leaseId).not.toBe(oldLease);
  expect((await session.status({ lease_id: oldLease })).error?.code).toBe('lease_stale');

  await session.reply({ text: 'The fox is on line 2.' });
  expect(session.state.status).toBe('completed');
  expect(session.state.last_result).toMatchObject({
    is_error: false,
    text: 'The fox is on line 2.',
  });
  await session.stop();
  expect(session.state.status).toBe('stopped');
});
