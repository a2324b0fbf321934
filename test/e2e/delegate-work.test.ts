import { randomInt, randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { Delegate } from '../support/delegate.ts';
import { supervisionsOf } from '../support/run-processes.ts';
import { createTestHome, killAll, type TestHome } from '../support/test-home.ts';
import { WORK_URI, WorkChecker } from '../support/work-checker.ts';

const INVOCATION = 'io.github.computer-mcp/work-invocation';
const STEPS = Number(process.env['REINS_WORK_STEPS'] ?? 500);

let home: TestHome;
let delegate: Delegate | undefined;

afterEach(async () => {
  await delegate?.close();
  delegate = undefined;
  await home.dispose();
});

async function open(fake: string): Promise<Delegate> {
  home = createTestHome();
  delegate = await Delegate.withFake(home, fake);
  return delegate;
}

const bound = (invocation: string = randomUUID()) => ({ [INVOCATION]: invocation });

async function startBound(adapter: Delegate, invocation: string): Promise<string> {
  const { result } = await adapter.call('claude.run.start', { prompt: 'x' }, bound(invocation));
  return String(result['run_id']);
}

test('D4 D6 D8 each tool declares its risk, the work resource and, where it takes a run, its continuation', async () => {
  const adapter = await open('well-behaved');
  const { tools } = await adapter.client.listTools();
  const declared = Object.fromEntries(tools.map(({ name, _meta }) => [name, _meta]));
  const work = { 'io.github.computer-mcp/work': { format_version: 1, uri: WORK_URI } };
  const continuation = {
    'io.github.computer-mcp/continuation': {
      format_version: 1,
      selectors: [{ kind: 'claude.run', handles: { id: '/run_id' } }],
    },
  };
  const risk = (level: string) => ({ 'io.github.computer-mcp/risk': level });
  expect(declared).toEqual({
    'claude.run': { ...risk('full-shell'), ...work },
    'claude.run.start': { ...risk('full-shell'), ...work },
    'claude.run.list': { ...risk('read-only'), ...work },
    'claude.run.result': { ...risk('read-only'), ...work, ...continuation },
    'claude.run.events': { ...risk('read-only'), ...work, ...continuation },
    'claude.run.cancel': { ...risk('destructive'), ...work, ...continuation },
    'claude.run.release': { ...risk('destructive'), ...work, ...continuation },
  });
  const { resources } = await adapter.client.listResources();
  expect(resources.map(({ uri, mimeType }) => [uri, mimeType])).toEqual([
    [WORK_URI, 'application/json'],
  ]);
  await expect(adapter.client.readResource({ uri: `${WORK_URI}/x` })).rejects.toMatchObject({
    code: -32602,
  });
});

test('D6 D7 a run belongs to the call that started it, from its reservation to its release', async () => {
  const adapter = await open('silent-mid-turn');
  const host = new WorkChecker(adapter.client);
  expect(await host.look()).toMatchObject({ revision: 0, resources: [] });
  const [one, two] = [randomUUID(), randomUUID()];
  const ids = [await startBound(adapter, one), await startBound(adapter, two)];
  const rows = [
    { kind: 'claude.run', id: ids[0], acquired_by: one, state: 'active' },
    { kind: 'claude.run', id: ids[1], acquired_by: two, state: 'active' },
  ].sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
  expect(await host.look()).toMatchObject({ revision: 1, resources: rows });
  // Later calls of somebody else bind nothing anew.
  for (const id of ids) {
    await adapter.call('claude.run.cancel', { run_id: id }, bound());
    await adapter.call('claude.run.result', { run_id: id, wait_seconds: 30 }, bound());
    await adapter.call('claude.run.events', { run_id: id }, bound());
  }
  expect(await host.look()).toMatchObject({ revision: 1, resources: rows });
  await adapter.call('claude.run.release', { run_id: ids[0] }, bound());
  expect(await host.look()).toMatchObject({
    revision: 2,
    resources: [{ id: ids[1], acquired_by: two }],
  });
});

test('D6 D7 an unbound run keeps the work from being shown, and the revision as it was', async () => {
  const adapter = await open('well-behaved');
  const host = new WorkChecker(adapter.client);
  await startBound(adapter, randomUUID());
  const before = await host.look();
  const { run_id: unbound } = await adapter.run();
  expect(await host.look()).toBeUndefined();
  await expect(adapter.client.readResource({ uri: WORK_URI })).rejects.toThrow(/work-invocation/);
  await adapter.call('claude.run.release', { run_id: unbound });
  expect(await host.look()).toEqual(before);
});

test('D7 an id that is no UUID is a protocol error, and nothing is reserved', async () => {
  const adapter = await open('well-behaved');
  for (const invocation of ['', 'x', 7, null, {}, `${randomUUID()}x`]) {
    const call = adapter.client.callTool({
      name: 'claude.run.start',
      arguments: { prompt: 'x' },
      _meta: { [INVOCATION]: invocation },
    });
    await expect(call, JSON.stringify(invocation)).rejects.toMatchObject({ code: -32602 });
  }
  expect(await adapter.list()).toEqual([]);
});

test('D6 a run whose cleanup is not confirmed is uncertain for good', async () => {
  const adapter = await open('silent-mid-turn');
  const host = new WorkChecker(adapter.client);
  const id = await startBound(adapter, randomUUID());
  while ((await adapter.result(id)).state !== 'running');
  expect((await host.look())?.resources[0]?.state).toBe('active');
  killAll(supervisionsOf(adapter.pid).map(({ adopter }) => adopter.pid));
  expect((await adapter.result(id, 30)).completed).toBe(true);
  expect((await host.look())?.resources[0]?.state).toBe('uncertain');
  await adapter.call('claude.run.release', { run_id: id });
  expect((await host.look())?.resources[0]?.state).toBe('uncertain');
});

test(`D5 D6 D7 a host that looks through ${STEPS} random steps never sees a word that does not hold`, async () => {
  home = createTestHome();
  const open = async (): Promise<{
    adapter: Delegate;
    host: WorkChecker;
    runs: Map<string, string>;
  }> => {
    const fake = ['well-behaved', 'silent-mid-turn', 'result-then-hang'][randomInt(3)] ?? '';
    const adapter = await Delegate.withFake(home, fake);
    return { adapter, host: new WorkChecker(adapter.client), runs: new Map() };
  };
  let now = await open();
  let looks = 0;
  let uncertain = 0;
  for (let step = 0; step < STEPS; step += 1) {
    const { adapter, host, runs } = now;
    const ids = [...runs.keys()];
    const id = ids[randomInt(ids.length + 1)] ?? 'none';
    switch (randomInt(8)) {
      case 0:
      case 1:
      case 2: {
        const invocation = randomUUID();
        const { isError, result } = await adapter.call(
          'claude.run.start',
          { prompt: 'x', timeout_seconds: 1 + randomInt(3) },
          bound(invocation),
        );
        if (!isError) runs.set(String(result['run_id']), invocation);
        break;
      }
      case 3:
        await adapter.call('claude.run.cancel', { run_id: id }, bound());
        break;
      case 4:
        await adapter.call(
          'claude.run.result',
          { run_id: id, wait_seconds: randomInt(2) },
          bound(),
        );
        break;
      case 5: {
        const { isError } = await adapter.call('claude.run.release', { run_id: id }, bound());
        if (!isError) runs.delete(id);
        break;
      }
      case 6: {
        const supervisors = supervisionsOf(adapter.pid).flatMap(({ adopter, supervisor }) =>
          [adopter.pid, supervisor?.pid ?? []].flat(),
        );
        const victim = supervisors[randomInt(supervisors.length + 3)];
        if (victim !== undefined) killAll([victim]);
        break;
      }
      case 7:
        if (randomInt(6) > 0) break;
        process.kill(adapter.pid, 'SIGKILL');
        await adapter.close().catch(() => {});
        looks += host.looks;
        now = await open();
        continue;
    }
    const snapshot = await host.look();
    expect(host.refusals).toBe(0);
    // Exactly the runs that were started and not released, for whom they were started.
    const seen = Object.fromEntries(
      snapshot?.resources.map(({ id: run, acquired_by: by }) => [run, by]) ?? [],
    );
    expect(seen).toEqual(Object.fromEntries(runs));
    uncertain += snapshot?.resources.filter(({ state }) => state === 'uncertain').length ?? 0;
    // A place is lost for good with each run that stays uncertain: a host would connect again.
    const stuck = snapshot?.resources.filter(({ state }) => state === 'uncertain').length ?? 0;
    if (stuck === 4) {
      await adapter.close();
      now = await open();
    }
    looks += 1;
  }
  delegate = now.adapter;
  expect(looks).toBeGreaterThanOrEqual(STEPS / 2);
  expect(uncertain).toBeGreaterThan(0);
});
