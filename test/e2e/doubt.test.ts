import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { isSessionId } from '../../src/base/ids.ts';
import { listActions } from '../../src/ledger/actions.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { runReins } from '../support/run-reins.ts';
import { ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, processesOf, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway;

afterEach(async () => {
  await gateway.close().catch(() => {});
  await home.dispose();
});

function actionStates(session: string): string[] {
  const database = openLedger(join(home.state, 'state.db'));
  if (!isSessionId(session)) throw new Error('not a session id');
  const states = listActions(database, session).map(({ state }) => state);
  database.close();
  return states;
}

function findRunner(of: TestHome): number | undefined {
  return processesOf(of.root).find((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('runner.js');
    } catch {
      return false;
    }
  });
}

for (const verdict of ['applied', 'not-applied'] as const) {
  test(`N21 a file with neither content stops recovery until a person says ${verdict}`, async () => {
    home = createTestHome();
    const path = join(home.project, 'a.txt');
    writeFileSync(path, 'one\n');
    gateway = await connectStdio({
      ...home,
      env: { ...home.env, REINS_FAILPOINT: 'prepare-synced' },
    });
    const session = await ScriptedSession.start(gateway.client, {
      working_directory: home.project,
      capability_profile: 'direct_write',
    });
    const lost = session
      .reply({
        tool_calls: [
          { name: 'Edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'two' } },
        ],
      })
      .catch(() => undefined);
    // The gateway would settle the action at once; it is held until somebody else has changed the file.
    await expect.poll(() => actionStates(session.id), { interval: 1 }).toHaveLength(1);
    process.kill(gateway.pid, 'SIGSTOP');
    await expect.poll(() => actionStates(session.id)).toEqual(['prepared']);
    await expect.poll(() => findRunner(home)).toBeUndefined();
    writeFileSync(path, 'three\n');
    process.kill(gateway.pid, 'SIGKILL');
    await gateway.close();
    await lost;
    gateway = await connectStdio(home);
    session.client = gateway.client;
    await session.recover();
    expect(session.state).toMatchObject({ status: 'failed', recovery_required: true });
    const unresolved = session.state['unresolved_actions'];
    expect(unresolved).toMatchObject([{ tool: 'Edit', path }]);
    const refused = await session.continue('Go on.');
    expect(refused.error?.code).toBe('recovery_required');
    expect(refused.error?.message).toContain('reins resolve');
    const action = /resolve ns_\S+ (act_\S+)/.exec(refused.error?.message ?? '')?.[1] ?? '';

    expect((await runReins(home, 'resolve', session.id, action, '--as', 'maybe')).exitCode).toBe(1);
    expect((await runReins(home, 'resolve', session.id, action, '--as', verdict)).exitCode).toBe(0);
    expect((await runReins(home, 'resolve', session.id, action, '--as', verdict)).exitCode).toBe(1);
    await session.continue('Go on.');
    expect(session.state).toMatchObject({ status: 'waiting_for_gpt', recovery_required: false });
    expect(session.results.map(({ is_error: isError }) => isError)).toEqual([
      verdict !== 'applied',
    ]);
    expect(readFileSync(path, 'utf8')).toBe('three\n');
    expect((await runReins(home, 'ledger', 'verify')).exitCode).toBe(0);
    await session.stop();
  });
}
