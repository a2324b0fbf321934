import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { type DeepseekAnswer, toEvents } from '../support/deepseek.ts';
import { connectStdio } from '../support/gateway.ts';
import { runReins } from '../support/run-reins.ts';
import { callTool, freshKey } from '../support/scripted-client.ts';
import { filesWith, openSubagentLab, type SubagentLab } from '../support/subagents.ts';
import { createTestHome, killAll, processesOf } from '../support/test-home.ts';
import { until } from '../support/until.ts';

const KEY = 'canary-of-the-deepseek-key';

let lab: SubagentLab | undefined;

afterEach(async () => {
  await lab?.dispose();
  lab = undefined;
});

const open = async (env: Record<string, string> = {}): Promise<SubagentLab> => {
  lab = await openSubagentLab(KEY, env);
  return lab;
};

/** N32: the main loop has its tools again. */
async function expectUnlocked({ session }: SubagentLab): Promise<void> {
  const [written] = await session.call({
    name: 'Write',
    input: { file_path: `free-${freshKey()}.txt`, content: 'free\n' },
  });
  expect(written?.text).toMatch(/^Created/);
  expect(session.state['active_deepseek_subsession_id']).toBeNull();
}

const callOf = (path: string) => ({ tool: 'Write', input: { file_path: path, content: 'x\n' } });

const twice = (answer: DeepseekAnswer): DeepseekAnswer[] => [answer, answer, answer];

describe('what goes wrong at the endpoint ends the subagent in a stated way, and nothing else takes its place', () => {
  test.each<[string, string, readonly DeepseekAnswer[], number]>([
    ['401', 'authentication_failed', [{ status: 401, body: `bad key ${KEY}` }], 1],
    ['402', 'payment_required', [{ status: 402, body: 'Insufficient Balance' }], 1],
    ['429', 'rate_limited', twice({ status: 429, body: 'slow down' }), 3],
    ['429 for hours', 'rate_limited', [{ status: 429, headers: { 'retry-after': '3600' } }], 1],
    ['500', 'endpoint_failed', twice({ status: 500, body: `oh ${KEY}` }), 3],
    ['503', 'endpoint_failed', twice({ status: 503 }), 3],
    ['400', 'request_rejected', [{ status: 400, body: 'no such model' }], 1],
    ['a redirect', 'request_rejected', [{ status: 307, headers: { location: '/other' } }], 1],
    ['a stream that is cut', 'endpoint_unreachable', twice({ cut: callOf('never.txt') }), 3],
    [
      'a stream that ends early',
      'answer_malformed',
      twice({ raw: toEvents({ text: 'almost' }).split('event: message_stop')[0] ?? '' }),
      3,
    ],
    ['no stream', 'answer_malformed', twice({ raw: '<html>login</html>' }), 3],
    ['a refusal', 'answer_refused', [{ text: 'I will not.', stop: 'refusal' }], 1],
    [
      'an answer that is too long',
      'answer_cut_off',
      [{ calls: [callOf('never.txt')], stop: 'max_tokens' }],
      1,
    ],
    ['an answer with the key in it', 'answer_malformed', [{ text: `the key is ${KEY}` }], 1],
    [
      'more calls than a reply may have',
      'answer_malformed',
      [{ calls: Array.from({ length: 65 }, (_, index) => callOf(`never-${index}.txt`)) }],
      1,
    ],
  ])('N33 %s: %s', async (_what, code, answers, requests) => {
    const opened = await open();
    opened.deepseek.script({ calls: [callOf('before.txt')] }, ...answers);
    await opened.start('Try.');
    const seen = await opened.ended();
    expect(seen).toMatchObject({ state: 'failed', outcome: { code }, turns: 1, action_count: 1 });
    expect(seen.outcome?.message).toMatch(/^[^\n]+\.$/);
    expect(JSON.stringify(seen)).not.toContain(KEY);
    expect(opened.deepseek.requests).toHaveLength(1 + requests);
    // The same model each time: no other one, of DeepSeek or of anybody, is asked instead.
    expect(new Set(opened.deepseek.requests.map(({ model }) => model))).toEqual(
      new Set(['deepseek-flash']),
    );
    expect(readFileSync(join(opened.root, 'before.txt'), 'utf8')).toBe('x\n');
    expect(filesWith(opened.root, 'x\n').filter((path) => path.includes('never'))).toEqual([]);
    await expectUnlocked(opened);
  });

  test('N33 nobody listens: endpoint_unreachable', async () => {
    const opened = await open();
    await opened.deepseek.close();
    await opened.start('Try.');
    expect(await opened.ended()).toMatchObject({
      state: 'failed',
      outcome: { code: 'endpoint_unreachable' },
      turns: 0,
    });
    await expectUnlocked(opened);
  });

  test('N33 what passes is asked again, once it has passed', async () => {
    const opened = await open();
    opened.deepseek.script(
      { status: 529 },
      { cut: callOf('once.txt') },
      { calls: [callOf('once.txt')] },
      { text: 'made it' },
    );
    await opened.start('Try.');
    expect(await opened.ended()).toMatchObject({
      state: 'completed',
      turns: 2,
      action_count: 1,
      last_text: 'made it',
    });
  });

  test('N33 a loop without end ends with its limit of turns', async () => {
    const opened = await open();
    const loop = { calls: [{ tool: 'Read', input: { file_path: 'a.txt' } }] };
    opened.deepseek.script(...Array.from({ length: 20 }, () => loop));
    await opened.start('Loop.', { max_turns: 5 });
    expect(await opened.ended()).toMatchObject({
      state: 'failed',
      outcome: { code: 'turn_limit' },
      turns: 5,
      action_count: 5,
    });
    expect(opened.deepseek.requests).toHaveLength(5);
    await expectUnlocked(opened);
  });
});

test('N13 N19 N30 calls that the subagent may not make are errors that it can read, and nothing is done', async () => {
  const opened = await open();
  const { deepseek, home } = opened;
  const outside = join(home.project, 'a.txt');
  deepseek.script(
    {
      calls: [
        { tool: 'Bash', input: { command: 'true' } },
        { tool: 'deepseek_subagent_start', input: { task: 'y', model_class: 'fable' } },
        { tool: 'Edit', input: { file_path: 'a.txt' } },
        { tool: 'Write', input: { file_path: outside, content: 'mine\n' } },
        { tool: 'Read', input: { file_path: join(home.state, 'state.db') } },
        { tool: 'RunCommand', input: { argv: ['sh', '-c', 'cat /proc/*/environ; env'] } },
      ],
    },
    { text: 'I could not.' },
  );
  await opened.start('Try to get out.');
  const seen = await opened.ended();
  expect(seen.state).toBe('completed');
  const states = seen.actions.map(({ tool, state }) => `${tool} ${state}`);
  expect(states).not.toContain('Edit applied');
  expect(states).toContain('Write failed');
  expect(states).toContain('Read failed');
  expect(readFileSync(outside, 'utf8')).toBe('one\ntwo\n');
  const told = JSON.stringify(deepseek.requests[1]?.messages);
  expect(told).toMatch(/outside_write_root/);
  expect(told).toMatch(/protected_path/);
  expect(told).not.toContain(KEY);
  expect(deepseek.requests).toHaveLength(2);
});

test('N34 F11 the session process is killed during a subtask: the subagent ends with it and the lock is gone', async () => {
  const opened = await open();
  const { deepseek, home, session } = opened;
  deepseek.script({ calls: [callOf('before.txt')] }, { silent: true });
  const id = await opened.start('Try.');
  await until(() => deepseek.requests.length === 2);
  await opened.gateway.kill();
  killAll(processesOf(home.root).slice(0, 1));
  opened.gateway = await connectStdio(home);
  session.client = opened.gateway.client;
  await session.status();
  expect(session.state.status).toBe('failed');
  await until(() => processesOf(home.root).every((pid) => pid === opened.gateway.pid));
  expect(opened.summaries()).toMatchObject([
    { subsession_id: id, state: 'failed', outcome: { code: 'runner_lost' }, turns: 1 },
  ]);
  await session.continue('Go on.');
  // The conversation knows that it was started; what became of it comes before the new prompt.
  const notice = session.messages.find(({ text }) => text.includes('runner_lost'));
  expect(notice).toMatchObject({ kind: 'notice', text: expect.stringContaining(id) });
  expect(await opened.get()).toMatchObject({ outcome: { code: 'runner_lost' } });
  await expectUnlocked(opened);
  expect((await runReins(home, 'ledger', 'verify')).exitCode).toBe(0);
});

test('N34 the Claude Code of the subagent is killed: claude_exited, and the session goes on', async () => {
  const opened = await open();
  const { deepseek, home } = opened;
  const before = processesOf(home.root);
  deepseek.script({ silent: true });
  await opened.start('Try.');
  await until(() => deepseek.requests.length === 1);
  killAll(processesOf(home.root).filter((pid) => !before.includes(pid)));
  expect(await opened.ended()).toMatchObject({
    state: 'failed',
    outcome: { code: 'claude_exited' },
  });
  await expectUnlocked(opened);
});

test('N33 N46 the key is nowhere but in the memory of the gateway and the runner, and on its way to the endpoint', async () => {
  const home = createTestHome();
  const keyFile = join(home.root, 'keys', 'deepseek');
  mkdirSync(join(home.root, 'keys'));
  writeFileSync(keyFile, `${KEY}\n`, { mode: 0o600 });
  const opened = await open({
    REINS_DEEPSEEK_API_KEY: '',
    REINS_DEEPSEEK_API_KEY_FILE: keyFile,
  });
  try {
    const { deepseek, session } = opened;
    deepseek.script(
      {
        calls: [
          { tool: 'Read', input: { file_path: keyFile } },
          { tool: 'RunCommand', input: { argv: ['cat', keyFile] } },
          {
            tool: 'RunCommand',
            input: { argv: ['sh', '-c', 'cat /proc/*/environ /proc/*/cmdline'] },
          },
        ],
      },
      { silent: true },
    );
    await opened.start('Find the key.');
    await until(() => deepseek.requests.length === 2);
    expect(deepseek.requests[0]?.headers['x-api-key']).toBe(KEY);
    for (const pid of processesOf(opened.home.root)) {
      for (const file of ['environ', 'cmdline']) {
        expect(readFileSync(`/proc/${pid}/${file}`, 'latin1')).not.toContain(KEY);
      }
    }
    const results = await session.call(
      { name: 'Read', input: { file_path: keyFile } },
      { name: 'deepseek_subagent_get', input: { wait_seconds: 0 } },
    );
    expect(results[0]?.text).toMatch(/^protected_path/);
    await session.call({ name: 'deepseek_subagent_stop', input: {} });
    await session.stop();
    const seen = [
      JSON.stringify(deepseek.requests.map(({ headers: _headers, ...request }) => request)),
      JSON.stringify(session.state),
      (await runReins(opened.home, 'show', session.id, '--json')).stdout,
      (await runReins(opened.home, 'ledger', 'export', session.id)).stdout,
      (await runReins(opened.home, 'doctor', '--json')).stdout,
    ];
    for (const text of seen) expect(text).not.toContain(KEY);
    expect(filesWith(opened.home.root, KEY)).toEqual([]);
  } finally {
    await home.dispose();
  }
});

test('N32 N34 a subagent that is stopped in the middle of a search ends with it, and its session goes on', async () => {
  const opened = await open();
  const { deepseek, session, home } = opened;
  deepseek.script({ calls: [{ tool: 'SearchText', input: { query: 'no such text', path: '/' } }] });
  await opened.start('Search everything.');
  await until(() => processesOf(home.root).length > 0 && deepseek.requests.length === 1);
  let seen = await opened.get({ wait_seconds: 1 });
  while (seen.action_count === 0) seen = await opened.get({ wait_seconds: 1 });
  await session.call({ name: 'deepseek_subagent_stop', input: {} });
  seen = await opened.get({ wait_seconds: 0 });
  expect(seen).toMatchObject({ state: 'stopped' });
  expect(['failed', 'refused']).toContain(seen.actions[0]?.state);
  // As long as the search could have taken.
  for (let waits = 0; waits < 3; waits += 1) {
    await session.call({ name: 'RunCommand', input: { argv: ['sleep', '8'] } });
  }
  await expectUnlocked(opened);
});

test('N34 an end that the ledger does not take at once is recorded when it does', async () => {
  const opened = await open();
  const { deepseek, home } = opened;
  const before = processesOf(home.root);
  deepseek.script({ silent: true });
  await opened.start('Wait.');
  await until(() => deepseek.requests.length === 1);
  const ledger = openLedger(join(home.state, 'state.db'));
  ledger.execute('BEGIN IMMEDIATE');
  killAll(processesOf(home.root).filter((pid) => !before.includes(pid)));
  // Longer than anybody waits for the lock.
  await new Promise((resolve) => setTimeout(resolve, 13_000));
  ledger.execute('ROLLBACK');
  ledger.close();
  expect(await opened.ended()).toMatchObject({
    state: 'failed',
    outcome: { code: 'claude_exited' },
  });
  await expectUnlocked(opened);
});

test('N13 what a subagent did and said is whole JSON, however long it is', async () => {
  const opened = await open();
  const deep = `${'d'.repeat(200)}/`.repeat(7);
  opened.deepseek.script(
    {
      calls: Array.from({ length: 40 }, (_, index) => callOf(`${deep}${index}.txt`)),
      text: '\u0001'.repeat(9_000),
    },
    { text: '\u0002'.repeat(9_000) },
  );
  await opened.start('Say much.');
  const seen = await opened.ended();
  expect(seen).toMatchObject({ state: 'completed', action_count: 40, last_text_truncated: true });
  expect(seen.actions.length).toBeGreaterThan(0);
});

describe('a session that may have subagents', () => {
  test('N10 N30 takes a key, and the policy goes with worktree_write alone', async () => {
    const opened = await open();
    const withoutKey = { ...opened.home.env, REINS_DEEPSEEK_API_KEY: '' };
    const gateway = await connectStdio({ ...opened.home, env: withoutKey });
    const start = (over: Record<string, unknown>) =>
      callTool(gateway.client, 'native_session_start', {
        prompt: 'x',
        working_directory: opened.home.project,
        idempotency_key: freshKey(),
        wait_seconds: 0,
        subagent_policy: 'deepseek_explicit',
        capability_profile: 'worktree_write',
        ...over,
      });
    try {
      const { error } = await start({});
      expect(error).toMatchObject({ code: 'feature_unavailable' });
      expect(error?.message).toContain('REINS_DEEPSEEK_API_KEY');
      const wrong = await start({ capability_profile: 'direct_write' });
      expect(wrong.error).toMatchObject({ code: 'invalid_parameter' });
      const loose = join(opened.home.state, 'deepseek-api-key');
      writeFileSync(loose, KEY);
      chmodSync(loose, 0o644);
      expect((await start({})).error?.message).toMatch(/can be read by others/);
    } finally {
      await gateway.close();
    }
  });

  test.each([
    ['REINS_DEEPSEEK_BASE_URL', 'http://example.org/anthropic'],
    ['REINS_DEEPSEEK_BASE_URL', 'https://user:secret@example.org'],
    ['REINS_DEEPSEEK_BASE_URL', 'ftp://example.org'],
    ['REINS_DEEPSEEK_API_KEY', 'two words'],
    ['REINS_DEEPSEEK_API_KEY_FILE', 'sk-this-is-a-secret@'],
    ['REINS_DEEPSEEK_BASE_URL', 'https://example.org/a?'],
    ['REINS_DEEPSEEK_FLASH_MODEL', 'a model\nb'],
  ])('N46 %s is refused by its name when it is wrong', async (name, value) => {
    const home = createTestHome({ [name]: value });
    try {
      const { exitCode, stderr } = await runReins(home, 'sessions');
      expect(exitCode).not.toBe(0);
      expect(stderr).toContain(name);
      expect(stderr).not.toContain('secret@');
      expect(stderr).not.toContain('two words');
    } finally {
      await home.dispose();
    }
  });

  test('N33 other model names are a matter of configuration', async () => {
    const opened = await open({ REINS_DEEPSEEK_PRO_MODEL: 'deepseek-v9-pro' });
    await opened.start('x', { model_class: 'fable' });
    expect(await opened.ended()).toMatchObject({ model: 'deepseek-v9-pro', state: 'completed' });
    expect(opened.deepseek.requests[0]?.model).toBe('deepseek-v9-pro');
  });
});
