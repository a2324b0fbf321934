import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findProcesses } from '../adversarial/support/find-processes.ts';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { runReins } from '../support/run-reins.ts';
import { ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, processesOf, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway;
let mark: string;

beforeEach(async () => {
  home = createTestHome();
  gateway = await connectStdio(home);
  mark = `36.${process.pid}${Math.floor(Math.random() * 1e6)}`;
});

afterEach(async () => {
  await gateway.close();
  await home.dispose();
});

/** A session in which a command has begun that goes on for half a minute. */
async function startCommand(): Promise<{ session: ScriptedSession; waiting: Promise<unknown> }> {
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    capability_profile: 'direct_write',
  });
  writeFileSync(join(home.project, 'a.txt'), 'one\n');
  const argv = ['sh', '-c', `echo ran >>a.txt; echo ran >>"$HOME/trace"; sleep ${mark}`];
  const waiting = session
    .reply({ tool_calls: [{ name: 'RunCommand', input: { argv } }] })
    .catch(() => {});
  await expect.poll(() => findProcesses(mark).length, { timeout: 20_000 }).toBeGreaterThan(0);
  return { session, waiting };
}

test('N21 N22 a command that is cut off with its runner is not run again, and said to be cut off', async () => {
  const { session, waiting } = await startCommand();
  const [runner] = processesOf(home.root).filter((pid) =>
    findProcesses(join(import.meta.dirname, '../../dist/runner.js')).includes(pid),
  );
  process.kill(runner ?? 0, 'SIGKILL');
  await expect.poll(() => findProcesses(mark), { timeout: 2_000 }).toEqual([]);
  await waiting;
  await session.status();
  expect(session.state.status).toBe('failed');
  expect(session.state['recovery_required']).toBe(false);
  await session.continue('Go on.');
  const [result] = session.results;
  expect(result).toMatchObject({ tool: 'RunCommand', is_error: true });
  expect(result?.text).toContain('was cut off');
  expect(findProcesses(mark)).toEqual([]);
  expect((await runReins(home, 'show', session.id)).stdout).toContain('cut off');
  const [read] = await session.call({ name: 'Read', input: { file_path: 'a.txt' } });
  expect(read?.text).not.toContain('ran');
  await session.stop();
});

test('N22 N34 stopping a session ends its command at once, and says so', async () => {
  const { session, waiting } = await startCommand();
  const begun = performance.now();
  await session.stop();
  expect(session.state.status).toBe('stopped');
  expect(performance.now() - begun).toBeLessThan(20_000);
  expect(findProcesses(mark)).toEqual([]);
  await waiting;
  await session.continue('What became of it?');
  expect(session.results[0]?.text).toContain('command_stopped');
  await session.stop();
});

test('N42 the state says what keeps the session in, once something does', async () => {
  const session = await ScriptedSession.start(gateway.client, { working_directory: home.project });
  expect(session.state['network_boundary']).toMatchObject({
    enforced: true,
    detail: expect.stringContaining('no network'),
  });
  await session.stop();
});
