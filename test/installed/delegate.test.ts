import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Delegate } from '../support/delegate.ts';
import { type MessagesApi, startMessagesApi } from '../support/messages-api.ts';
import { listAll } from '../support/run-processes.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let api: MessagesApi;
let delegate: Delegate | undefined;

beforeEach(async () => {
  api = await startMessagesApi();
  home = createTestHome({
    ANTHROPIC_BASE_URL: api.baseUrl,
    ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  });
});

afterEach(async () => {
  await delegate?.close();
  delegate = undefined;
  await home.dispose();
  await api.close();
});

async function open(env: Record<string, string> = {}): Promise<Delegate> {
  delegate = await Delegate.connect(home, env);
  return delegate;
}

/** The user's own settings: this one lets Claude Code run commands without asking. */
function allowCommands(): void {
  mkdirSync(join(home.root, '.claude'), { recursive: true });
  const settings = { permissions: { allow: ['Bash'] } };
  writeFileSync(join(home.root, '.claude', 'settings.json'), JSON.stringify(settings));
}

test('D13 a task is carried out with real tools, and the outcome is what the real Claude Code says', async () => {
  const adapter = await open();
  writeFileSync(join(home.project, 'a.txt'), 'colour = blue\n');
  api.script(
    { tool: 'Read', input: { file_path: join(home.project, 'a.txt') } },
    {
      tool: 'Edit',
      input: {
        file_path: join(home.project, 'a.txt'),
        old_string: 'blue',
        new_string: 'grün',
      },
    },
    { text: 'It is grün now.' },
  );
  const run = await adapter.run({ prompt: 'Make it green.', permission_mode: 'acceptEdits' });
  expect(run).toMatchObject({
    state: 'completed',
    exit_code: 0,
    final_event: { subtype: 'success', result: 'It is grün now.', num_turns: 3 },
    cleanup_confirmed: true,
  });
  expect(readFileSync(join(home.project, 'a.txt'), 'utf8')).toBe('colour = grün\n');
  const page = await adapter.events(run.run_id, { limit: 256 });
  const types = new Set(page.events.map(({ type }) => type));
  expect([...types]).toEqual(
    expect.arrayContaining(['system', 'stream_event', 'assistant', 'user', 'result']),
  );
});

const LONG = 'ä€🎈x'.repeat(20_000);

test.each([
  ['that begins with a dash', '--version'],
  ['that is a flag with a value', '--permission-mode=bypassPermissions'],
  ['with quotes, dollars and line ends', '"$(id)" `id` \\ \n\r\n end \n'],
  ['with an at sign and a bang', '@/etc/passwd !id #x'],
  ['as long as an argument can be', 'x'.repeat(131_071)],
  ['of 128 KiB', 'y'.repeat(131_072)],
  ['that is longer than an argument can be', `-- ${LONG} \n`],
])('D1 F8 a prompt %s arrives word for word', async (_what, prompt) => {
  const adapter = await open();
  expect((await adapter.run({ prompt })).state).toBe('completed');
  expect(api.lastTexts().at(-1) === prompt).toBe(true);
});

test('D1 D11 each option of the contract is taken as it is meant', async () => {
  const adapter = await open();
  const session = randomUUID();
  const run = await adapter.run({
    prompt: 'x',
    model: 'claude-sonnet-4-5',
    effort: 'max',
    append_system_prompt: '--not a flag',
    max_budget_usd: 5,
    session_id: session,
  });
  expect(run).toMatchObject({ state: 'completed', session_id: session });
  const [request] = api.requests;
  expect(request?.model).toBe('claude-sonnet-4-5');
  expect(JSON.stringify(request?.system)).toContain('--not a flag');
  api.script({ text: 'resumed' });
  const resumed = await adapter.run({ prompt: 'and now?', resume_session_id: session });
  expect(resumed).toMatchObject({ session_id: session, final_event: { result: 'resumed' } });
  expect(api.requests.at(-1)?.messages.length).toBeGreaterThan(2);
  api.script({ text: 'continued' });
  const continued = await adapter.run({ prompt: 'and then?', continue_previous: true });
  expect(continued).toMatchObject({ session_id: session, final_event: { result: 'continued' } });
  const unsaved = await adapter.run({ prompt: 'x', no_session_persistence: true });
  const lost = await adapter.run({ prompt: 'x', resume_session_id: unsaved.session_id });
  expect(lost).toMatchObject({ state: 'failed', error: { code: 'native_error' } });
  expect(lost.error?.message).toContain('No conversation found');
});

test('D11 an appended system prompt may be empty, and a budget that is used up is a native error', async () => {
  const adapter = await open();
  expect((await adapter.run({ append_system_prompt: '' })).state).toBe('completed');
  const spent = await adapter.run({ max_budget_usd: 0.000001 });
  expect(spent).toMatchObject({ state: 'failed', error: { code: 'native_error' } });
  expect(spent.final_event).toMatchObject({ subtype: 'error_max_budget_usd' });
});

test.each([403, 429])(
  'D13 F7 HTTP %i from the model is an error with its text, though it says success',
  async (status) => {
    const adapter = await open();
    api.script({ status, message: 'Not for you.' });
    const run = await adapter.run();
    expect(run).toMatchObject({
      state: 'failed',
      error: { code: 'native_error' },
      final_event: { subtype: 'success', is_error: true },
      cleanup_confirmed: true,
    });
    expect(run.error?.message).toContain('Not for you.');
  },
);

test('D14 F3 a model that stops in the middle of its answer ends with the time limit', async () => {
  const adapter = await open();
  api.script({ stall: 'I will' });
  const run = await adapter.run({ timeout_seconds: 4 });
  expect(run).toMatchObject({ state: 'timed_out', cleanup_confirmed: true, final_event: null });
  expect(run.error?.message).toMatch(/last event was "(stream_event|system)", \d+\.\d s before/);
});

test('D10 F15 what nobody can be asked for is denied at once, and listed', async () => {
  const adapter = await open();
  api.script({ tool: 'Bash', input: { command: 'touch denied', description: 'x' } });
  const run = await adapter.run();
  expect(run.state).toBe('completed');
  expect(JSON.stringify(run.final_event?.['permission_denials'])).toContain('touch denied');
  expect(existsSync(join(home.project, 'denied'))).toBe(false);
});

test('D11 F9 inside another Claude Code a run is still a run of its own', async () => {
  const outer = randomUUID();
  const adapter = await open({
    CLAUDECODE: '1',
    CLAUDE_CODE_SESSION_ID: outer,
    CLAUDE_CODE_ENTRYPOINT: 'cli',
    CLAUDE_CODE_CHILD_SESSION: '1',
  });
  allowCommands();
  api.script({ tool: 'Bash', input: { command: 'env', description: 'x' } });
  const run = await adapter.run();
  expect(run.state).toBe('completed');
  expect(run.session_id).not.toBe(outer);
  expect(JSON.stringify(api.requests.at(-1)?.messages)).not.toContain(outer);
});

test('D12 a result of more than 64 KiB comes whole', async () => {
  const adapter = await open();
  const text = 'größe '.repeat(15_000);
  api.script({ text });
  expect((await adapter.run()).final_event?.result === text).toBe(true);
});

describe.runIf(process.platform === 'linux')('what the real Bash tool starts', () => {
  const tag = String(Math.floor(1e8 + Math.random() * 9e8));
  const descendants = () => listAll().filter(({ command }) => command.includes(tag));

  function writeForkingScript(): void {
    const loop = `trap "" TERM; while :; do sleep 1; : ${tag}; done`;
    writeFileSync(
      join(home.project, 'fork.sh'),
      `sleep 1000.${tag} &\n(sh -c '${loop}' &)\nsetsid sleep 2000.${tag} &\n(env -i setsid sh -c 'sleep 3000.${tag} & exit' &)\nexit 0\n`,
    );
  }

  test('D15 F10 ends with a run that is cancelled', async () => {
    const adapter = await open();
    allowCommands();
    writeForkingScript();
    api.script(
      { tool: 'Bash', input: { command: 'bash fork.sh', description: 'x' } },
      { stall: 'Started.' },
    );
    const { run_id: id } = await adapter.start();
    while (descendants().length < 4) await adapter.result(id, 1);
    await adapter.cancel(id);
    expect(await adapter.result(id, 30)).toMatchObject({
      state: 'cancelled',
      cleanup_confirmed: true,
    });
    expect(descendants()).toEqual([]);
  });

  test('D15 F10 ends with a run that ends by itself', async () => {
    const adapter = await open();
    allowCommands();
    writeForkingScript();
    api.script({ tool: 'Bash', input: { command: 'bash fork.sh', description: 'x' } });
    expect(await adapter.run()).toMatchObject({ state: 'completed', cleanup_confirmed: true });
    expect(descendants()).toEqual([]);
  });
});

test('D16 the API key is in no argument of any process of a run', async () => {
  const adapter = await open({ ANTHROPIC_API_KEY: 'canary-key-1234567890' });
  let release = (): void => {};
  const when = new Promise<void>((resolve) => {
    release = resolve;
  });
  api.script({ when, text: 'done' });
  const { run_id: id } = await adapter.start();
  while (api.requests.length === 0) await adapter.result(id, 1);
  const ours = listAll().filter(({ command }) => /claude|supervisor/.test(command));
  expect(ours.length).toBeGreaterThanOrEqual(2);
  expect(ours.filter(({ command }) => command.includes('canary-key'))).toEqual([]);
  release();
  const over = await adapter.result(id, 30);
  expect(over.state).toBe('completed');
  expect(z.string().parse(JSON.stringify(over))).not.toContain('canary-key');
});
