import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Delegate } from '../support/delegate.ts';
import { installFake } from '../support/fake-claude.ts';
import { speakJsonRpc } from '../support/json-rpc.ts';
import { listAll } from '../support/run-processes.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let delegate: Delegate | undefined;

beforeEach(() => {
  home = createTestHome();
});

afterEach(async () => {
  await delegate?.close().catch(() => {});
  delegate = undefined;
  await home.dispose();
});

async function open(fake: string): Promise<Delegate> {
  delegate = await Delegate.withFake(home, fake);
  return delegate;
}

const childrenOf = (pid: number) => listAll().filter(({ parentPid }) => parentPid === pid);

test('D12 an event that is nested too deep to be passed on is counted, and nothing else suffers', async () => {
  const adapter = await open('deep-result');
  const good = await adapter.run();
  expect(good).toMatchObject({ state: 'completed', final_event: { result: 'done' } });
  expect(await adapter.events(good.run_id)).toMatchObject({ omitted_events: 1, next_cursor: 3 });
  const bad = await adapter.run({ prompt: 'result' });
  expect(bad).toMatchObject({ state: 'failed', error: { code: 'result_malformed' } });
  expect(await adapter.list()).toHaveLength(2);
});

test('D13 half a result beside a whole one is an error that keeps the whole one', async () => {
  const adapter = await open('half-result-beside-a-whole-one');
  expect(await adapter.run()).toMatchObject({
    state: 'failed',
    error: { code: 'result_malformed' },
    final_event: { result: 'done' },
  });
});

test.each(['plain', 'broken'])(
  'D12 D14 a run that prints %s junk without end leaves the adapter time for everything else',
  async (kind) => {
    const adapter = await open('prints-junk-without-end');
    const { run_id: id } = await adapter.start({ prompt: kind, timeout_seconds: 4 });
    let calls = 0;
    while (!(await adapter.result(id)).completed) {
      calls += 1;
      await sleep(20);
    }
    // Each of them was answered while the junk went by.
    expect(calls).toBeGreaterThan(10);
    expect(await adapter.result(id)).toMatchObject({ state: 'timed_out', cleanup_confirmed: true });
  },
);

test('D14 a run that ended in time is not late because the adapter was held up', async () => {
  const adapter = await open('well-behaved');
  // Everything is loaded and a supervisor waits: the next run takes a fraction of a second.
  await adapter.run();
  await sleep(500);
  const call = adapter.call('claude.run', { prompt: 'x', timeout_seconds: 2 });
  await sleep(60);
  process.kill(adapter.pid, 'SIGSTOP');
  await sleep(4_000);
  process.kill(adapter.pid, 'SIGCONT');
  expect(await call).toMatchObject({ isError: false, result: { state: 'completed' } });
});

test('D2 D15 a line that is too long ends the adapter with its runs, before the first run and during one', async () => {
  for (const fake of [undefined, 'silent-mid-turn']) {
    const env: Record<string, string> =
      fake === undefined ? {} : { CLAUDE_BIN: installFake(home, fake) };
    const withFake = { ...home, env: { ...home.env, ...env } };
    const peer = await speakJsonRpc(withFake, '2025-06-18', [], 'delegate');
    if (fake !== undefined) {
      await peer.request('tools/call', { name: 'claude.run.start', arguments: { prompt: 'x' } });
    }
    peer.write(`{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"${'y'.repeat(9 << 20)}"}}`);
    await peer.ended;
    expect(listAll().filter(({ command }) => command.includes(home.root))).toEqual([]);
  }
});

test.runIf(process.platform === 'linux')(
  'D15 an adapter that has no descriptors left says so, and loses no run that is under way',
  async () => {
    const adapter = await open('result-then-hang');
    await adapter.run({ timeout_seconds: 1 });
    const going = await adapter.start({ timeout_seconds: 6 });
    while ((await adapter.result(going.run_id)).state !== 'running');
    execFileSync('prlimit', ['--pid', String(adapter.pid), '--nofile=8:8']);
    // The first may still get the supervisor that waits for it.
    const refused = await adapter.run({ timeout_seconds: 1 });
    const again = await adapter.run({ timeout_seconds: 1 });
    expect([refused.state, again.state]).toContain('failed');
    expect(await adapter.result(going.run_id, 30)).toMatchObject({
      state: 'timed_out',
      final_event: { result: 'done' },
      cleanup_confirmed: true,
    });
    expect(childrenOf(adapter.pid).length).toBeGreaterThan(0);
  },
);
