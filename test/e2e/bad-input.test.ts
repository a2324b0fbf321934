import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { listSessions } from '../../src/ledger/sessions.ts';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { callTool, freshKey, ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway;
let session: ScriptedSession;

beforeAll(async () => {
  home = createTestHome();
  writeFileSync(join(home.project, 'a.txt'), 'alpha\nbeta\n');
  gateway = await connectStdio(home);
  session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    capability_profile: 'direct_write',
  });
});

afterAll(async () => {
  await gateway.close();
  await home.dispose();
});

const start = (over: Record<string, unknown>) =>
  callTool(gateway.client, 'native_session_start', {
    prompt: 'x',
    working_directory: home.project,
    idempotency_key: freshKey(),
    wait_seconds: 0,
    ...over,
  });

/** A digest of everything that the ledger holds, to show that a refusal stored nothing. */
function ledgerDigest(): string {
  const database = openLedger(join(home.state, 'state.db'));
  const sessions = listSessions(database, 100).map(({ leaseExpiresAt: _lease, ...rest }) => rest);
  database.close();
  return createHash('sha256').update(JSON.stringify(sessions)).digest('hex');
}

/** Runs calls that have to be refused with this code, each in one sentence, with nothing changed. */
async function expectRefused(
  code: string,
  field: string,
  calls: readonly (() => Promise<{ error?: { code: string; message: string } | undefined }>)[],
): Promise<void> {
  const before = ledgerDigest();
  for (const call of calls) {
    const { error } = await call();
    expect(error?.code).toBe(code);
    expect(error?.message).toContain(field);
    expect(error?.message).toMatch(/^[^\n]+\.$/);
  }
  expect(ledgerDigest()).toBe(before);
}

test('N3 N6 N9 T29 unknown parameters are refused by name, model and provider among them', async () => {
  for (const name of [
    'model',
    'provider',
    'endpoint',
    'api_key',
    'fallback',
    'workingDirectory',
    '__proto__x',
  ]) {
    await expectRefused('unknown_parameter', name, [() => start({ [name]: 'x' })]);
  }
  await expectRefused('unknown_parameter', 'tool_calls.0.id', [
    () => session.reply({ tool_calls: [{ name: 'Read', input: {}, id: 'mine' }] as never }),
  ]);
});

test('N3 wrong types, missing and out-of-range values are refused with the field', async () => {
  await expectRefused('invalid_parameter', 'prompt', [
    () => start({ prompt: 5 }),
    () => start({ prompt: '' }),
    () => start({ prompt: 'x'.repeat(262_145) }),
  ]);
  await expectRefused('invalid_parameter', 'wait_seconds', [
    () => start({ wait_seconds: 51 }),
    () => start({ wait_seconds: -1 }),
    () => start({ wait_seconds: '30' }),
  ]);
  await expectRefused('invalid_parameter', 'capability_profile', [
    () => start({ capability_profile: 'root' }),
  ]);
  await expectRefused('invalid_parameter', 'idempotency_key', [
    () => callTool(gateway.client, 'native_session_start', { prompt: 'x', working_directory: '/' }),
    () => start({ idempotency_key: '' }),
    () => start({ idempotency_key: 'a\0b' }),
  ]);
});

test('N3 a value that is nested without end is refused like any other', async () => {
  let deep: Record<string, unknown> = {};
  for (let i = 0; i < 2_000; i += 1) deep = { deep };
  await expectRefused('invalid_parameter', 'native_session_start', [() => start({ prompt: deep })]);
  await expectRefused('invalid_parameter', 'native_session_reply_and_wait', [
    () => session.reply({ tool_calls: [{ name: 'Read', input: deep }] }),
  ]);
});

test('N7 a start is repeated though its directory has gone meanwhile', async () => {
  const directory = join(home.root, 'passing');
  mkdirSync(directory);
  const over = { working_directory: directory, idempotency_key: freshKey(), wait_seconds: 30 };
  const first = await start(over);
  rmSync(directory, { recursive: true });
  const again = await start(over);
  expect(again.replay).toBe(true);
  expect(again.native_session_id).toBe(first.native_session_id);
  await callTool(gateway.client, 'native_session_stop', {
    native_session_id: first.native_session_id,
    lease_id: first.lease_id,
    request_id: freshKey(),
  });
});

test('N3 relative, missing and non-directories are refused', async () => {
  await expectRefused('working_directory_invalid', 'working_directory', [
    () => start({ working_directory: 'project' }),
    () => start({ working_directory: '' }),
    () => start({ working_directory: '~/project' }),
    () => start({ working_directory: join(home.project, 'nowhere') }),
    () => start({ working_directory: join(home.project, 'a.txt') }),
    () => start({ working_directory: '/', capability_profile: 'direct_write' }),
  ]);
});

test('N30 N35 a skill that nobody allowed and a policy without its service are refused', async () => {
  await expectRefused('skill_refused', 'skill_contexts', [
    () => start({ skill_contexts: [{ skill_id: 'a', content_sha256: 'b' }] }),
    () => start({ skill_contexts: [{ skill_id: 'personal:a', content_sha256: 'a'.repeat(64) }] }),
  ]);
  await expectRefused('invalid_parameter', 'subagent_policy', [
    () => start({ subagent_policy: 'deepseek_explicit' }),
  ]);
});

test('N24 a directory that is no repository is refused for worktree_write', async () => {
  await expectRefused('worktree_refused', 'worktree_write', [
    () => start({ capability_profile: 'worktree_write' }),
  ]);
});

test('T36 an unknown session, turn or lease is refused and tells nothing of others', async () => {
  await expectRefused('session_unknown', 'native_session_id', [
    () =>
      callTool(gateway.client, 'native_session_status', {
        native_session_id: 'ns_x',
        lease_id: session.leaseId,
      }),
    () =>
      callTool(gateway.client, 'native_session_status', {
        // Of the right shape, and of no session: another last character than the real one.
        native_session_id: session.id.slice(0, -1) + (session.id.endsWith('_') ? 'a' : '_'),
        lease_id: session.leaseId,
      }),
  ]);
  await expectRefused('turn_unknown', 'turn_id', [
    () => session.reply({ text: 'x' }, { turn_id: 'turn_x' }),
    () => session.reply({ text: 'x' }, { turn_id: '' }),
  ]);
  await expectRefused('lease_stale', 'lease_id', [
    () => session.reply({ text: 'x' }, { lease_id: 'lease_x' }),
    () => session.status({ lease_id: `${session.leaseId}x` }),
    () => session.continue('x', { lease_id: '' }),
    () => session.stop({ lease_id: 'other' }),
  ]);
  await expectRefused('recovery_token_invalid', 'recovery_token', [
    () => session.recover({ recovery_token: 'rt_x' }),
    () => session.recover({ recovery_token: `${session.recoveryToken.slice(0, -1)}!` }),
  ]);
});

test('N8 an empty or over-size reply is refused whole', async () => {
  await expectRefused('reply_empty', 'text', [
    () => session.reply({}),
    () => session.reply({ text: ' \n' }),
    () => session.reply({ text: '', tool_calls: [] }),
  ]);
  const half = 'x'.repeat(384 * 1024);
  await expectRefused('reply_too_large', '786432', [
    () => session.reply({ text: 'x'.repeat(768 * 1024 + 1) }),
    () =>
      session.reply({
        text: half,
        tool_calls: [{ name: 'Write', input: { file_path: 'b', content: half } }],
      }),
    () => session.reply({ text: 'é'.repeat(384 * 1024 + 1) }),
  ]);
  await expectRefused('reply_too_large', 'tool_calls', [
    () =>
      session.reply({
        tool_calls: Array.from({ length: 65 }, () => ({
          name: 'Read',
          input: { file_path: 'a.txt' },
        })),
      }),
  ]);
});

test('N13 N43 a call that the session does not have or that does not fit is refused with its position', async () => {
  const good = { name: 'Write', input: { file_path: 'never.txt', content: 'x' } };
  await expectRefused('tool_not_available', 'tool_calls[1].name', [
    () => session.reply({ tool_calls: [good, { name: 'Bash', input: { command: 'ls' } }] }),
    () =>
      session.reply({
        tool_calls: [good, { name: 'mcp__executor__Read', input: { file_path: 'a.txt' } }],
      }),
    () => session.reply({ tool_calls: [good, { name: 'read', input: { file_path: 'a.txt' } }] }),
  ]);
  await expectRefused('tool_call_invalid', 'tool_calls[1].input', [
    () => session.reply({ tool_calls: [good, { name: 'Read', input: {} }] }),
    () =>
      session.reply({ tool_calls: [good, { name: 'Read', input: { file_path: 'a', path: 'b' } }] }),
    () =>
      session.reply({ tool_calls: [good, { name: 'Read', input: { file_path: 'a', offset: 0 } }] }),
    () =>
      session.reply({
        tool_calls: [good, { name: 'Write', input: { file_path: 'a', content: '\ud800' } }],
      }),
    () => session.reply({ tool_calls: [good, { name: 'SearchText', input: { query: 'a\nb' } }] }),
  ]);
  expect(() => readFileSync(join(home.project, 'never.txt'))).toThrow();
});

test('a new prompt is refused while a turn is pending', async () => {
  await expectRefused('session_busy', 'waiting_for_gpt', [() => session.continue('next')]);
});

test('N7 the same key with other input is refused, and with the same input gives the stored outcome', async () => {
  const key = freshKey();
  const first = await start({ idempotency_key: key, prompt: 'one', wait_seconds: 30 });
  expect(first.replay).toBe(false);
  const again = await start({ idempotency_key: key, prompt: 'one', wait_seconds: 30 });
  expect(again.replay).toBe(true);
  expect(again.native_session_id).toBe(first.native_session_id);
  expect(again.lease_id).toBe(first.lease_id);
  expect(again.recovery_token).toBe(first.recovery_token);
  await expectRefused('idempotency_conflict', key, [
    () => start({ idempotency_key: key, prompt: 'two' }),
    () => start({ idempotency_key: key, prompt: 'one', session_label: 'x' }),
  ]);
  await callTool(gateway.client, 'native_session_stop', {
    native_session_id: first.native_session_id,
    lease_id: first.lease_id,
    request_id: freshKey(),
  });
});

test('after every refusal the session goes on with the very turn that was pending', async () => {
  const turn = session.turnId;
  await session.status();
  expect(session.turnId).toBe(turn);
  const replyId = freshKey();
  const calls = [
    { name: 'Edit', input: { file_path: 'a.txt', old_string: 'alpha', new_string: 'ALPHA' } },
  ];
  const answered = await session.reply({ tool_calls: calls }, { reply_id: replyId });
  expect(answered.replay).toBe(false);
  expect(session.results[0]?.is_error).toBe(false);

  const repeated = await session.reply({ tool_calls: calls }, { reply_id: replyId, turn_id: turn });
  expect(repeated.replay).toBe(true);
  expect(repeated.pending_turn?.turn_id).toBe(answered.pending_turn?.turn_id);
  expect(readFileSync(join(home.project, 'a.txt'), 'utf8')).toBe('ALPHA\nbeta\n');

  await expectRefused('turn_finished', 'turn_id', [
    () => session.reply({ text: 'late' }, { turn_id: turn }),
  ]);
  await expectRefused('idempotency_conflict', replyId, [
    () => session.reply({ text: 'other' }, { reply_id: replyId, turn_id: turn }),
  ]);
});

test('N20 a file that changed between read and edit is left alone, and the session goes on', async () => {
  await session.call({ name: 'Read', input: { file_path: 'a.txt' } });
  writeFileSync(join(home.project, 'a.txt'), 'ALPHA\nbeTa\n');
  const [refused] = await session.call({
    name: 'Edit',
    input: { file_path: 'a.txt', old_string: 'ALPHA', new_string: 'x' },
  });
  expect(refused?.is_error).toBe(true);
  expect(refused?.text).toMatch(/^file_changed: /);
  expect(readFileSync(join(home.project, 'a.txt'), 'utf8')).toBe('ALPHA\nbeTa\n');
});

test('F31 two edits of one file in one reply are applied in order, each to the result of the other', async () => {
  writeFileSync(join(home.project, 'two.txt'), 'one\n');
  const results = await session.call(
    { name: 'Edit', input: { file_path: 'two.txt', old_string: 'one', new_string: 'two' } },
    { name: 'Edit', input: { file_path: 'two.txt', old_string: 'two', new_string: 'three' } },
    { name: 'Edit', input: { file_path: 'two.txt', old_string: 'one', new_string: 'never' } },
  );
  expect(results.map(({ is_error: isError }) => isError)).toEqual([false, false, true]);
  expect(readFileSync(join(home.project, 'two.txt'), 'utf8')).toBe('three\n');
});
