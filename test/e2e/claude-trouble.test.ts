import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { callTool, freshKey, ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, processesOf, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway | undefined;

afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await home.dispose();
});

async function open(env: Record<string, string> = {}): Promise<ConnectedGateway> {
  home = createTestHome(env);
  gateway = await connectStdio(home);
  return gateway;
}

/** A stand-in for Claude Code that misbehaves in one way. */
function fakeClaude(name: string, script: string): string {
  const path = join(home.root, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function startOn(client: ConnectedGateway['client']) {
  return callTool(client, 'native_session_start', {
    prompt: 'x',
    working_directory: home.project,
    idempotency_key: freshKey(),
  });
}

test('N41 N47 an absent Claude Code is a launch error with the remedy, and the session can go on later', async () => {
  const { client } = await open({ CLAUDE_BIN: '/nonexistent/claude' });
  const state = await startOn(client);
  expect(state.status).toBe('failed');
  expect(state.launch_error?.code).toBe('claude_not_found');
  expect(state.launch_error?.message).toContain('CLAUDE_BIN');
  expect(state.runtime_attached).toBe(false);
  const again = await callTool(client, 'native_session_continue', {
    native_session_id: state.native_session_id,
    lease_id: state.lease_id,
    prompt: 'again',
    idempotency_key: freshKey(),
  });
  expect(again.status).toBe('failed');
});

const WRONG: readonly [string, string, string][] = [
  ['another version', 'echo "2.1.332 (Claude Code)"', 'claude_version_unsupported'],
  ['no version', 'echo hello', 'claude_version_unsupported'],
  ['a version in other words', 'echo "2.1.247"', 'claude_version_unsupported'],
  [
    'an end before the first question',
    '[ "$1" = --version ] && echo "2.1.247 (Claude Code)" || { echo "boom" >&2; exit 3; }',
    'claude_exited',
  ],
  [
    'other tools than it was told',
    `[ "$1" = --version ] && { echo "2.1.247 (Claude Code)"; exit; }
     echo '{"type":"system","subtype":"init","session_id":"x","tools":["Bash"],"mcp_servers":[{"name":"executor","status":"connected"}]}'
     exec sleep 60`,
    'claude_contract_broken',
  ],
];

for (const [what, script, code] of WRONG) {
  test(`N41 a Claude Code with ${what} is refused as ${code}`, async () => {
    home = createTestHome({ CLAUDE_BIN: '' });
    const env = { CLAUDE_BIN: fakeClaude('claude', script) };
    const previous = home;
    home = { ...previous, env: { ...previous.env, ...env } };
    gateway = await connectStdio(home);
    const state = await startOn(gateway.client);
    expect(state.status).toBe('failed');
    expect(state.launch_error?.code).toBe(code);
    expect(state.pending_turn).toBeNull();
    await gateway.close();
    await expect.poll(() => processesOf(home.root)).toEqual([]);
  });
}

/** The process of the session's Claude Code, known by the name that it has inside. */
function claudePid(): number {
  const pids = processesOf(join(home.state, 'sessions')).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('/reins/claude-code\0'),
  );
  if (pids.length !== 1) throw new Error(`expected one Claude Code and found ${pids.length}`);
  return pids[0] ?? 0;
}

test.runIf(process.platform === 'linux')(
  'N45 a Claude Code that is killed while a turn is pending is told, and the conversation goes on',
  async () => {
    const { client } = await open();
    writeFileSync(join(home.project, 'a.txt'), 'one\n');
    const session = await ScriptedSession.start(client, {
      working_directory: home.project,
      capability_profile: 'direct_write',
    });
    const edit = {
      name: 'Edit',
      input: { file_path: 'a.txt', old_string: 'one', new_string: 'two' },
    };
    const [edited] = await session.call(edit);
    process.kill(claudePid(), 'SIGKILL');
    await expect.poll(async () => (await session.status()).status).toBe('failed');
    expect(session.state.pending_turn).toBeNull();
    expect(session.state.last_result?.is_error).toBe(true);
    expect(session.state.runtime_attached).toBe(false);
    const late = await session.reply({ text: 'too late' });
    expect(late.error?.code).toBe('session_not_running');

    await session.continue('Go on.');
    expect(session.state.status).toBe('waiting_for_gpt');
    // Whether Claude Code had saved the last call or not: its result is there, once, and the new task comes last.
    expect(session.results.map(({ call_id: id, is_error: isError }) => [id, isError])).toEqual([
      [edited?.call_id, false],
    ]);
    expect(session.messages.at(-1)?.text).toBe('Go on.');
    const [read] = await session.call({ name: 'Read', input: { file_path: 'a.txt' } });
    expect(read?.text).toBe('1\ttwo');
    await session.stop();
  },
);

test.runIf(process.platform === 'linux')(
  'a Claude Code that dies between two prompts is started again by the next',
  async () => {
    const { client } = await open();
    const session = await ScriptedSession.start(client, { working_directory: home.project });
    await session.reply({ text: 'first done' });
    process.kill(claudePid(), 'SIGKILL');
    await expect.poll(async () => (await session.status()).runtime_attached).toBe(false);
    expect(session.state.status).toBe('completed');
    await session.continue('second');
    expect(session.state.status).toBe('waiting_for_gpt');
    expect(session.messages.at(-1)?.text).toBe('second');
    await session.stop();
  },
);

test.runIf(process.platform === 'linux')(
  'a runner that is killed is said to be gone, and takes its Claude Code with it on the next prompt',
  async () => {
    const { client } = await open();
    const session = await ScriptedSession.start(client, { working_directory: home.project });
    const claude = claudePid();
    const runner = processesOf(home.root).find(
      (pid) =>
        pid !== gateway?.pid &&
        readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('runner.js'),
    );
    process.kill(runner ?? 0, 'SIGKILL');
    await expect.poll(async () => (await session.status()).status).toBe('failed');
    expect(session.state.runtime_attached).toBe(false);
    await expect
      .poll(() => processesOf(home.root).includes(claude), { timeout: 10_000 })
      .toBe(false);
    await session.continue('again');
    expect(session.state.status).toBe('waiting_for_gpt');
    await session.stop();
  },
);

test('F27 a Claude Code that was killed before it had saved a message begins its conversation anew', async () => {
  const { client } = await open();
  const session = await ScriptedSession.start(client, { working_directory: home.project });
  await session.stop();
  const projects = join(home.state, 'sessions', session.id, 'claude', 'projects');
  const [project = ''] = readdirSync(projects);
  const file = join(projects, project, `${session.state.claude_session_id}.jsonl`);
  const [first = ''] = readFileSync(file, 'utf8').split('\n');
  for (const left of [`${first}\n`, '', `${first}\n{"type":"user","mess`]) {
    writeFileSync(file, left);
    await session.continue('Go on.');
    expect(session.state.status).toBe('waiting_for_gpt');
    expect(session.messages.at(-1)).toEqual({ kind: 'task', text: 'Go on.' });
    await session.stop();
  }
});
