import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { Delegate, type RunResult } from '../support/delegate.ts';
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

async function runWith(fake: string, args: Record<string, unknown> = {}): Promise<RunResult> {
  return (await open(fake)).run(args);
}

test('D13 a run that does everything right is the only success', async () => {
  const run = await runWith('well-behaved');
  expect(run).toMatchObject({
    state: 'completed',
    completed: true,
    is_error: false,
    error: null,
    session_id: '11111111-2222-4333-8444-555555555555',
    final_event: { type: 'result', subtype: 'success', result: 'done' },
    exit_code: 0,
    signal: null,
    cleanup_confirmed: true,
    cleanup_error: null,
  });
});

test('D13 D14 F1 a result followed by a hang times out, and the result is kept', async () => {
  const run = await runWith('result-then-hang', { timeout_seconds: 2 });
  expect(run).toMatchObject({
    state: 'timed_out',
    error: { code: 'timed_out' },
    final_event: { result: 'done' },
    cleanup_confirmed: true,
  });
});

test('F2 stdin is at its end from the start', async () => {
  const run = await runWith('waits-for-stdin', { timeout_seconds: 30 });
  expect(run).toMatchObject({ state: 'completed', final_event: { result: 'read 0 bytes' } });
});

test('F3 a stream that stops in the middle is named with its last event and the age of that', async () => {
  const run = await runWith('silent-mid-turn', { timeout_seconds: 2 });
  expect(run).toMatchObject({ state: 'timed_out', final_event: null, cleanup_confirmed: true });
  expect(run.error?.message).toMatch(/within 2 s .*last event was "assistant", [12]\.\d s before/);
});

test.each(['no-result', 'prints-text'])(
  'D13 F4 %s: text and exit 0 are no success',
  async (fake) => {
    const run = await runWith(fake);
    expect(run).toMatchObject({
      state: 'failed',
      error: { code: 'result_missing' },
      final_event: null,
      exit_code: 0,
    });
  },
);

test('D12 F5 output that is cut in the middle of the result is an error', async () => {
  const run = await runWith('cut-at-64k');
  expect(run).toMatchObject({
    state: 'failed',
    error: { code: 'result_truncated' },
    final_event: null,
    exit_code: 0,
  });
});

test('D12 F5 a whole result without its newline counts', async () => {
  expect(await runWith('no-last-newline')).toMatchObject({
    state: 'completed',
    final_event: { result: 'whole' },
  });
});

const MIB = 1024 * 1024;

/** The most memory that a process has had resident so far, in bytes; 0 where the kernel does not tell. */
function peakMemory(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

test.each([
  [300 * 1024, 1],
  [MIB - 1, 1],
  [MIB, 1],
  [MIB + 1, 1],
  [5 * MIB, 1],
])(
  'D12 F6 a line of %i bytes does not harm the run, and is counted if it cannot be shown',
  async (bytes, omitted) => {
    const run = await runWith('long-line', { prompt: String(bytes) });
    expect(run).toMatchObject({ state: 'completed', final_event: { result: 'done' } });
    const page = await delegate?.events(run.run_id);
    expect(page).toMatchObject({ omitted_events: omitted, missed_events: 0, next_cursor: 3 });
    expect(page?.events.map(({ type }) => type)).toEqual(['system', 'result']);
  },
);

test('D12 F6 a line of 200 KB is shown', async () => {
  const run = await runWith('long-line', { prompt: String(200 * 1024) });
  const page = await delegate?.events(run.run_id);
  // The page that has it has nothing else.
  expect(page).toMatchObject({ omitted_events: 0, has_more: true });
  const rest = await delegate?.events(run.run_id, { cursor: page?.next_cursor });
  expect(JSON.stringify(rest?.events).length).toBeGreaterThan(100_000);
});

test.each([
  [128 * 1024, 'completed', undefined],
  [128 * 1024 + 1, 'failed', 'result_too_large'],
  [MIB + 1, 'failed', 'result_too_large'],
  [5 * MIB, 'failed', 'result_too_large'],
])('D12 F6 a result of %i bytes is %s, never passed on in part', async (bytes, state, code) => {
  const run = await runWith('long-result', { prompt: String(bytes) });
  expect(run.state).toBe(state);
  expect(run.error?.code).toBe(code);
  if (code !== undefined) expect(run.final_event).toBeNull();
});

test('D12 a line that never ends costs no memory and ends with the time limit', async () => {
  const { pid } = await open('endless-line');
  const before = peakMemory(pid);
  const run = await delegate?.run({ timeout_seconds: 3 });
  expect(run).toMatchObject({ state: 'timed_out', cleanup_confirmed: true });
  // Hundreds of megabytes have come by.
  expect(peakMemory(pid) - before).toBeLessThan(64 * MIB);
});

test('D13 F7 a success that is an error is an error, with its text', async () => {
  const run = await runWith('success-that-is-an-error');
  expect(run).toMatchObject({
    state: 'failed',
    error: { code: 'native_error' },
    final_event: { subtype: 'success', is_error: true, api_error_status: 403 },
  });
  expect(run.error?.message).toContain('403 forbidden');
});

test('D13 two results are an error, and the first is kept', async () => {
  expect(await runWith('two-results')).toMatchObject({
    state: 'failed',
    error: { code: 'result_duplicate' },
    final_event: { result: 'first' },
  });
});

test.each(['malformed-result', 'result-without-text'])('D13 %s is an error', async (fake) => {
  const run = await runWith(fake);
  expect(run).toMatchObject({ state: 'failed', error: { code: 'result_malformed' } });
});

test('D13 a good result and a bad exit are an error that keeps the result', async () => {
  const run = await runWith('result-then-failure');
  expect(run).toMatchObject({
    state: 'failed',
    error: { code: 'claude_failed' },
    final_event: { result: 'done' },
    exit_code: 3,
  });
  expect(run.error?.message).toContain('could not save the session');
});

test('D13 a good result and a signal are an error that keeps the result', async () => {
  expect(await runWith('result-then-signal')).toMatchObject({
    state: 'failed',
    error: { code: 'claude_failed' },
    final_event: { result: 'done' },
    exit_code: null,
    signal: 'SIGKILL',
    cleanup_confirmed: true,
  });
});

test('D13 a good result and a broken event after it are an error that keeps the result', async () => {
  expect(await runWith('result-then-garbage')).toMatchObject({
    state: 'failed',
    error: { code: 'result_truncated' },
    final_event: { result: 'done' },
  });
});

test('F13 a flag that the version does not know is named together with the version', async () => {
  const run = await runWith('rejects-a-flag', { effort: 'high' });
  expect(run.error?.code).toBe('claude_failed');
  expect(run.error?.message).toMatch(/2\.1\.247.*code 1.*unknown option '--effort=high'/);
});

test('D12 F14 lines that are no JSON objects are skipped and counted', async () => {
  const run = await runWith('log-lines');
  expect(run).toMatchObject({ state: 'completed', skipped_lines: 6 });
  const page = await delegate?.events(run.run_id);
  expect(page?.events.map(({ type }) => type)).toEqual(['system', 'result']);
});

test('D12 characters that are split between chunks stay whole', async () => {
  expect((await runWith('split-characters')).final_event?.result).toBe('größe 한글 🎈');
});

test('D13 kinds of events and fields that are not known are kept', async () => {
  const run = await runWith('unknown-events');
  expect(run.final_event).toMatchObject({ future_field: { kept: true } });
  const page = await delegate?.events(run.run_id);
  expect(page?.events.slice(1, 3)).toEqual([
    { type: 'system', subtype: 'ui_invalidate' },
    { type: 'future', nested: { a: [1] } },
  ]);
});

test('D12 the window holds the latest 256 events, and says what is missed', async () => {
  const { run_id: id } = await runWith('event-flood', { prompt: '1000' });
  const page = await delegate?.events(id, { limit: 100 });
  expect(page).toMatchObject({ missed_events: 1002 - 256, has_more: true, omitted_events: 0 });
  expect(page?.events).toHaveLength(100);
  let cursor = page?.next_cursor ?? 0;
  let seen = page?.events.length ?? 0;
  for (let more = true; more; ) {
    const next = await delegate?.events(id, { cursor });
    expect(next?.missed_events).toBe(0);
    seen += next?.events.length ?? 0;
    cursor = next?.next_cursor ?? 0;
    more = next?.has_more ?? false;
  }
  expect({ seen, cursor }).toEqual({ seen: 256, cursor: 1002 });
  const ahead = await delegate?.call('claude.run.events', { run_id: id, cursor: 1003 });
  expect(ahead).toMatchObject({ isError: true, result: { error: { code: 'cursor_invalid' } } });
});

test('D12 events can be read while the run goes on', async () => {
  const adapter = await open('silent-mid-turn');
  const { run_id: id, state } = await adapter.start();
  expect(state).toBe('starting');
  let page = await adapter.events(id);
  while (page.events.length < 2) page = await adapter.events(id);
  expect(page).toMatchObject({ next_cursor: 2, has_more: false });
  expect(await adapter.events(id, { cursor: 2 })).toMatchObject({ events: [], next_cursor: 2 });
  await adapter.cancel(id);
  expect(await adapter.result(id, 30)).toMatchObject({ state: 'cancelled' });
});

test('D1 no Claude Code is an error with the remedy, and the adapter goes on', async () => {
  home = createTestHome();
  delegate = await Delegate.connect(home, { CLAUDE_BIN: '/nonexistent/claude' });
  expect((await delegate.run()).error?.code).toBe('claude_not_found');
  expect((await delegate.run()).error?.code).toBe('claude_not_found');
});
