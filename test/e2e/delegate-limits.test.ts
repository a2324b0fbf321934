import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { Delegate } from '../support/delegate.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let delegate: Delegate | undefined;

afterEach(async () => {
  await delegate?.close();
  delegate = undefined;
  await home.dispose();
});

async function open(fake: string, env: Record<string, string> = {}): Promise<Delegate> {
  home = createTestHome();
  delegate = await Delegate.withFake(home, fake, env);
  return delegate;
}

test('D5 a fifth run is refused while four are under way, and taken when one is over', async () => {
  const adapter = await open('silent-mid-turn');
  const runs = [];
  for (let count = 0; count < 4; count += 1) runs.push(await adapter.start());
  const fifth = await adapter.call('claude.run.start', { prompt: 'x' });
  expect(fifth).toMatchObject({ isError: true, result: { error: { code: 'run_capacity' } } });
  expect(await adapter.list()).toHaveLength(4);
  const first = runs[0]?.run_id ?? null;
  const active = await adapter.call('claude.run.release', { run_id: first });
  expect(active).toMatchObject({ isError: true, result: { error: { code: 'run_active' } } });
  await adapter.cancel(first);
  await adapter.result(first, 30);
  expect((await adapter.start()).state).toBe('starting');
});

test('D5 32 runs are held; the next one takes the place of the one that was over first', async () => {
  const adapter = await open('well-behaved');
  const ids = [];
  for (let count = 0; count < 33; count += 1) ids.push((await adapter.run()).run_id);
  const held = (await adapter.list()).map(({ run_id: id }) => id);
  expect(held).toEqual(ids.slice(1));
  const gone = await adapter.call('claude.run.result', { run_id: ids[0] });
  expect(gone).toMatchObject({ isError: true, result: { error: { code: 'run_unknown' } } });
});

test('D5 reading and cancelling release nothing; release forgets one run and no other', async () => {
  const adapter = await open('well-behaved');
  const [one, two] = [await adapter.run(), await adapter.run()];
  for (let times = 0; times < 3; times += 1) {
    expect((await adapter.result(one.run_id)).final_event?.result).toBe('done');
    await adapter.events(one.run_id);
    expect(await adapter.cancel(one.run_id)).toMatchObject({ state: 'completed' });
  }
  const released = await adapter.call('claude.run.release', { run_id: one.run_id });
  expect(released).toEqual({ isError: false, result: { run_id: one.run_id, released: true } });
  for (const name of ['result', 'events', 'cancel', 'release']) {
    const answer = await adapter.call(`claude.run.${name}`, { run_id: one.run_id });
    expect(answer).toMatchObject({ isError: true, result: { error: { code: 'run_unknown' } } });
  }
  expect((await adapter.list()).map(({ run_id: id }) => id)).toEqual([two.run_id]);
});

test('D14 cancelling a call of claude.run ends its run; the first cause stays', async () => {
  const adapter = await open('silent-mid-turn');
  const abort = new AbortController();
  const call = adapter.call('claude.run', { prompt: 'x' }, undefined, { signal: abort.signal });
  const failed = expect(call).rejects.toThrow();
  let runs = await adapter.list();
  while (runs[0]?.state !== 'running') runs = await adapter.list();
  abort.abort();
  await failed;
  const id = runs[0]?.run_id ?? null;
  expect(await adapter.result(id, 30)).toMatchObject({
    state: 'cancelled',
    cleanup_confirmed: true,
  });
  expect(await adapter.cancel(id)).toMatchObject({ state: 'cancelled' });
});

test('D14 cancelling a wait for a result ends the wait and not the run', async () => {
  const adapter = await open('silent-mid-turn');
  const { run_id: id } = await adapter.start();
  const abort = new AbortController();
  const wait = adapter.call('claude.run.result', { run_id: id, wait_seconds: 50 }, undefined, {
    signal: abort.signal,
  });
  const failed = expect(wait).rejects.toThrow();
  abort.abort();
  await failed;
  expect((await adapter.result(id)).completed).toBe(false);
  expect((await adapter.result(id, 1)).completed).toBe(false);
});

test('D3 progress is sent to a client that asks for it, and to no other', async () => {
  const adapter = await open('result-then-hang');
  const messages: string[] = [];
  await adapter.call('claude.run', { prompt: 'x', timeout_seconds: 7 }, undefined, {
    onprogress: ({ message }) => messages.push(message ?? ''),
  });
  expect(messages.length).toBeGreaterThanOrEqual(2);
  expect(messages[0]).toBe('starting, no event yet');
  expect(messages[1]).toBe('running, last event: result');
});

test('F12 a client that gives up has its run ended; one that waits in pieces gets the outcome of one run', async () => {
  const adapter = await open('silent-mid-turn');
  await expect(
    adapter.call('claude.run', { prompt: 'x' }, undefined, { timeout: 1_500 }),
  ).rejects.toThrow();
  const [given] = await adapter.list();
  expect(await adapter.result(given?.run_id ?? null, 30)).toMatchObject({ state: 'cancelled' });
  const { run_id: id } = await adapter.start({ timeout_seconds: 4 });
  let over = await adapter.result(id, 1);
  while (!over.completed) over = await adapter.result(id, 1);
  expect(over.state).toBe('timed_out');
  expect(await adapter.list()).toHaveLength(2);
});

const BAD: readonly [string, Record<string, unknown>, RegExp][] = [
  ['no prompt', { prompt: undefined }, /^prompt is required/],
  ['an empty prompt', { prompt: '' }, /^prompt /],
  ['white space for a prompt', { prompt: ' \n\t' }, /^prompt has nothing but white space/],
  [
    'a prompt over a megabyte',
    { prompt: 'ä'.repeat(600_000) },
    /^prompt is longer than 1048576 bytes/,
  ],
  ['a zero byte', { prompt: 'a\0b' }, /^prompt has a zero byte/],
  ['half a surrogate pair', { prompt: 'a\ud800b' }, /^prompt has half of a surrogate pair/],
  ['a mode that grants everything', { permission_mode: 'bypassPermissions' }, /^permission_mode /],
  ['an effort that there is not', { effort: 'ultra' }, /^effort .*"xhigh"/],
  ['no budget', { max_budget_usd: 0 }, /^max_budget_usd /],
  ['a budget in words', { max_budget_usd: '1' }, /^max_budget_usd /],
  ['an endless run', { timeout_seconds: 1801 }, /^timeout_seconds .*1800/],
  ['no time', { timeout_seconds: 0 }, /^timeout_seconds /],
  ['an id that is no UUID', { session_id: 'x'.repeat(36) }, /^session_id has to be a UUID/],
  ['an empty model', { model: '' }, /^model /],
  ['two conversations', { session_id: randomUUID(), resume_session_id: 'x' }, /exclude each other/],
  ['an old one twice', { continue_previous: true, resume_session_id: 'x' }, /exclude each other/],
  [
    'an old and a new one',
    { continue_previous: true, session_id: randomUUID() },
    /exclude each other/,
  ],
  [
    'nothing saved and resumed',
    { no_session_persistence: true, resume_session_id: 'x' },
    /exclude/,
  ],
  [
    'nothing saved and continued',
    { no_session_persistence: true, continue_previous: true },
    /exclude/,
  ],
  [
    'a relative directory',
    { working_directory: 'here' },
    /^working_directory has to be an absolute/,
  ],
  ['a directory that is not there', { working_directory: '/nonexistent' }, /does not exist/],
  ['a file for a directory', { working_directory: '/etc/passwd' }, /is not a directory/],
  ['an argument that there is not', { allowed_tools: 'Bash' }, /has no parameter allowed_tools/],
  ['an identity in the arguments', { acquired_by: randomUUID() }, /has no parameter acquired_by/],
];

test('D3 D9 D10 bad arguments are refused by name before anything is reserved', async () => {
  const adapter = await open('well-behaved');
  for (const name of ['claude.run', 'claude.run.start']) {
    for (const [what, args, message] of BAD) {
      const { isError, result } = await adapter.call(name, { prompt: 'x', ...args });
      const error = z.object({ message: z.string() }).safeParse(result['error']).data;
      expect(isError, what).toBe(true);
      expect(error?.message, what).toMatch(message);
    }
  }
  for (const name of ['result', 'events', 'cancel', 'release']) {
    for (const args of [{}, { run_id: 7 }, { run_id: 'nope' }, { run_id: 'x', more: 1 }]) {
      expect((await adapter.call(`claude.run.${name}`, args)).isError, name).toBe(true);
    }
  }
  expect(await adapter.list()).toEqual([]);
});

test('D9 a flag that is switched off excludes nothing', async () => {
  const adapter = await open('well-behaved');
  const args = { resume_session_id: 'x', continue_previous: false, no_session_persistence: false };
  expect((await adapter.run(args)).state).toBe('completed');
});

const shownSchema = z.object({
  argv: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  cwd: z.string(),
  descriptors: z.array(z.string()),
});

async function show(env: Record<string, string>, args: Record<string, unknown> = {}) {
  const adapter = await open('shows-itself', env);
  const run = await adapter.run(args);
  return shownSchema.parse(JSON.parse(run.final_event?.result ?? ''));
}

test('D1 D10 D11 the arguments are exactly those that were asked for, the prompt last and apart', async () => {
  const shown = await show({}, { prompt: '--version' });
  const stream = ['-p', '--output-format=stream-json', '--verbose', '--include-partial-messages'];
  expect(shown.argv).toEqual([...stream, '--permission-mode=dontAsk', '--', '--version']);
  await delegate?.close();
  await home.dispose();
  const session = randomUUID();
  const all = await show(
    {},
    {
      prompt: '-p $(rm) "quoted"\nnext',
      model: '--model',
      permission_mode: 'plan',
      effort: 'xhigh',
      append_system_prompt: '-- be brief\n',
      max_budget_usd: 0.000001,
      session_id: session,
      no_session_persistence: true,
    },
  );
  expect(all.argv).toEqual([
    ...stream,
    '--permission-mode=plan',
    '--model=--model',
    '--effort=xhigh',
    '--append-system-prompt=-- be brief\n',
    '--max-budget-usd=0.000001',
    `--session-id=${session}`,
    '--no-session-persistence',
    '--',
    '-p $(rm) "quoted"\nnext',
  ]);
});

test('D11 D16 F9 the environment is the user’s, without that of a surrounding Claude Code or host', async () => {
  const kept = {
    ANTHROPIC_API_KEY: 'the-user-s-own',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
    CLAUDE_CONFIG_DIR: '/somewhere',
    CLAUDE_CODE_OAUTH_TOKEN: 'token',
    CLAUDE_CODE_USE_BEDROCK: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: '1000',
    HTTPS_PROXY: 'http://127.0.0.1:1',
    MY_TOOL: 'x',
  };
  const dropped = {
    CLAUDECODE: '1',
    CLAUDE_CODE_SESSION_ID: randomUUID(),
    CLAUDE_CODE_ENTRYPOINT: 'cli',
    CLAUDE_CODE_SSE_PORT: '12345',
    CLAUDE_CODE_CHILD_SESSION: '1',
    CLAUDE_CODE_EXECPATH: '/x',
    CLAUDE_CODE_ANYTHING_NEW: '1',
    CLAUDE_EFFORT: 'low',
    CLAUDE_PID: '1',
    AI_AGENT: 'claude-code_2-1-247_agent',
    COMPUTER_MCP: '1',
    COMPUTER_MCP_SOCKET: '/run/x',
    REINS_STATE_DIR: '/x',
  };
  const { env, cwd } = await show({ ...kept, ...dropped });
  expect(env).toMatchObject(kept);
  expect(Object.keys(env).filter((name) => name in dropped)).toEqual([]);
  expect(Object.keys(env).filter((name) => name.startsWith('REINS_'))).toEqual([
    'REINS_RUN_MARKER',
  ]);
  expect(cwd).toBe(home.project);
});

test('D15 a run inside a run carries both markers', async () => {
  const { env } = await show({ REINS_RUN_MARKER: 'outer.marker' });
  expect(env['REINS_RUN_MARKER']).toMatch(/^outer\.marker:[\w-]{20}\.[\w-]{20}$/);
});

test('D16 no descriptor of the host, the adapter or the supervisor reaches the native process', async () => {
  const shown = await show({});
  // 0 to 2, and what Node opens for itself.
  const further = shown.descriptors.filter((each) => !/^[0-2] /.test(each));
  expect(
    further.filter((each) => !/anon_inode|pipe:|\/proc\/|\/dev\/(null|urandom)/.test(each)),
  ).toEqual([]);
  expect(shown.descriptors.find((each) => each.startsWith('0 '))).toBe('0 /dev/null');
});

test('D3 working_directory is where a run works', async () => {
  const directory = '/tmp';
  expect((await show({}, { working_directory: directory })).cwd).toBe(directory);
});

test('D5 handles are the connection’s own: another adapter knows none of them', async () => {
  const adapter = await open('well-behaved');
  const { run_id: id } = await adapter.run();
  const other = await Delegate.connect(home);
  const answer = await other.call('claude.run.result', { run_id: id });
  expect(answer).toMatchObject({ isError: true, result: { error: { code: 'run_unknown' } } });
  await other.close();
});
