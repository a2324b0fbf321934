import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Delegate, type RunResult } from '../support/delegate.ts';
import { listAll, type SeenProcess, supervisionsOf } from '../support/run-processes.ts';
import { createTestHome, killAll, type TestHome } from '../support/test-home.ts';
import { until } from '../support/until.ts';

let home: TestHome;
let delegate: Delegate | undefined;

afterEach(async () => {
  await delegate?.close().catch(() => {});
  delegate = undefined;
  await home.dispose();
});

async function open(fake: string): Promise<Delegate> {
  home = createTestHome();
  delegate = await Delegate.withFake(home, fake, { TEST_TAG: tag });
  return delegate;
}

/** Whatever a run of this test has started. */
const descendants = (): SeenProcess[] => listAll().filter(({ command }) => command.includes(tag));

/** Everything that this test has started, the adapter and its supervisors included. */
const everything = (adapter: Delegate): SeenProcess[] => [
  ...descendants(),
  ...listAll().filter(
    ({ pid, parentPid, command }) =>
      pid === adapter.pid || parentPid === adapter.pid || command.includes(home.root),
  ),
];

/** The stand-ins themselves. */
const claudeOf = (adapter: Delegate): SeenProcess[] =>
  supervisionsOf(adapter.pid).flatMap(({ claude }) => claude ?? []);

/** A run of `leaves-descendants` at the moment at which all of them live. */
async function startWithDescendants(): Promise<{
  readonly adapter: Delegate;
  readonly run: RunResult;
}> {
  const adapter = await open('leaves-descendants');
  const run = await adapter.start();
  let page = await adapter.events(run.run_id);
  while (page.events.length === 0) page = await adapter.events(run.run_id);
  await until(() => descendants().length === 5);
  // Long enough for the supervisor to have looked, on a busy machine as well.
  await sleep(1_500);
  return { adapter, run };
}

let tag = '';
beforeEach(() => {
  tag = String(randomInt(1e8, 1e9));
});

// A host-side look through /proc; on macOS the same is done with ps by hand.
describe.runIf(process.platform === 'linux')('the processes of a run', () => {
  test('D15 F10 cancelling ends all that the run has started, whatever it did to get away', async () => {
    const { adapter, run } = await startWithDescendants();
    await adapter.cancel(run.run_id);
    const over = await adapter.result(run.run_id, 30);
    expect(over).toMatchObject({
      state: 'cancelled',
      cleanup_confirmed: true,
      cleanup_error: null,
    });
    expect(descendants()).toEqual([]);
  });

  test('D15 F10 a run that ends by itself leaves nothing behind either', async () => {
    const adapter = await open('leaves-descendants');
    expect(await adapter.run({ prompt: 'end' })).toMatchObject({
      state: 'completed',
      cleanup_confirmed: true,
    });
    expect(descendants()).toEqual([]);
  });

  test('D15 a run that keeps starting processes while it is being ended is ended', async () => {
    const adapter = await open('keeps-forking');
    const { run_id: id } = await adapter.start();
    await until(() => descendants().length >= 2);
    await adapter.cancel(id);
    expect(await adapter.result(id, 50)).toMatchObject({
      state: 'cancelled',
      cleanup_confirmed: true,
    });
    expect(descendants()).toEqual([]);
  });

  test('D13 D15 a child that keeps stdout open holds nothing up', async () => {
    const adapter = await open('holds-the-pipe');
    expect(await adapter.run()).toMatchObject({ state: 'completed', cleanup_confirmed: true });
    expect(descendants()).toEqual([]);
  });

  test('D15 F11 when the adapter is killed, its runs end with all that they have started', async () => {
    const { adapter } = await startWithDescendants();
    process.kill(adapter.pid, 'SIGKILL');
    await until(() => everything(adapter).length === 0);
  });

  test('D15 when the client closes the connection, its runs end and then the adapter', async () => {
    const { adapter } = await startWithDescendants();
    await adapter.close();
    await until(() => everything(adapter).length === 0);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'D15 %s to the adapter ends its runs, too',
    async (signal) => {
      const { adapter } = await startWithDescendants();
      process.kill(adapter.pid, signal);
      await until(() => everything(adapter).length === 0);
    },
  );

  test.each([
    ['a supervisor', ['supervisor']],
    ['its adopter', ['adopter']],
    ['both', ['supervisor', 'adopter']],
  ] as const)(
    'D15 %s killed: the cleanup is unconfirmed for good, and no process is left',
    async (_who, roles) => {
      const { adapter, run } = await startWithDescendants();
      const busy = await until(() =>
        supervisionsOf(adapter.pid).find(({ claude }) => claude !== undefined),
      );
      killAll(roles.flatMap((role) => busy[role]?.pid ?? []));
      const over = await adapter.result(run.run_id, 40);
      expect(over).toMatchObject({
        state: 'failed',
        error: { code: 'supervisor_lost' },
        cleanup_confirmed: false,
        cleanup_error: { code: 'cleanup_unconfirmed' },
      });
      await until(() => descendants().length === 0);
      await until(() => listAll().every(({ pid }) => pid !== busy.supervisor?.pid));
      const kept = await adapter.call('claude.run.release', { run_id: run.run_id });
      expect(kept).toMatchObject({
        isError: true,
        result: { error: { code: 'cleanup_unconfirmed' } },
      });
    },
  );

  test('D15 adapter and supervisors killed together: the guard ends what they leave, and goes', async () => {
    const { adapter } = await startWithDescendants();
    const supervisions = await until(() => {
      const all = supervisionsOf(adapter.pid);
      return all.length > 0 && all;
    });
    const pids = supervisions.flatMap(({ adopter, supervisor }) =>
      [adopter.pid, supervisor?.pid ?? []].flat(),
    );
    killAll([adapter.pid, ...pids]);
    // One of them had emptied its environment, and with the supervisor went the only one who knew whose it is.
    await until(() => descendants().length <= 1, 20_000);
    killAll(descendants().map(({ pid }) => pid));
    await until(() => everything(adapter).length === 0);
  });

  test('D15 a supervisor that is stopped is given up in time, with what it had to end', async () => {
    const { adapter, run } = await startWithDescendants();
    const busy = await until(() =>
      supervisionsOf(adapter.pid).find(({ claude }) => claude !== undefined),
    );
    process.kill(busy.supervisor?.pid ?? 0, 'SIGSTOP');
    await adapter.cancel(run.run_id);
    let over = await adapter.result(run.run_id, 20);
    while (!over.completed) over = await adapter.result(run.run_id, 20);
    expect(over).toMatchObject({ state: 'cancelled', cleanup_confirmed: false });
    await until(() => descendants().length === 0);
  });

  test('D15 what hops from process to process is ended, too', async () => {
    const adapter = await open('hops');
    expect(await adapter.run()).toMatchObject({ state: 'completed', cleanup_confirmed: true });
    expect(descendants()).toEqual([]);
  });

  test('D15 a guard that is killed is replaced', async () => {
    const adapter = await open('well-behaved');
    await adapter.run();
    const guards = () => listAll().filter(({ command }) => command.includes('read -r line'));
    const ours = () => guards().filter(({ parentPid }) => parentPid === adapter.pid);
    const [first] = ours();
    expect(ours()).toHaveLength(1);
    killAll([first?.pid ?? 0]);
    await until(() => ours().length === 1 && ours()[0]?.pid !== first?.pid);
  });

  test('D15 Claude Code killed from outside is an error with the signal, and nothing is left', async () => {
    const { adapter, run } = await startWithDescendants();
    const claude = claudeOf(adapter);
    killAll(claude.map(({ pid }) => pid));
    expect(await adapter.result(run.run_id, 30)).toMatchObject({
      state: 'failed',
      error: { code: 'claude_failed' },
      signal: 'SIGKILL',
      cleanup_confirmed: true,
    });
    expect(descendants()).toEqual([]);
  });

  test('D15 nothing that is not of the run is signalled: a stranger with the same command lives on', async () => {
    const { spawn } = await import('node:child_process');
    const stranger = spawn('/bin/sleep', ['1000'], { stdio: 'ignore', detached: true });
    const other = spawn('/bin/sleep', ['1000'], {
      stdio: 'ignore',
      env: { REINS_RUN_MARKER: 'somebody.else' },
    });
    const { adapter, run } = await startWithDescendants();
    await adapter.cancel(run.run_id);
    await adapter.result(run.run_id, 30);
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
    killAll([stranger.pid ?? 0, other.pid ?? 0].filter((pid) => pid > 0));
  });
});
