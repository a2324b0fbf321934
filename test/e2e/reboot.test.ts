import { spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { identifyProcess } from '../../src/process/process-identity.ts';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, killAll, processesOf, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway;

afterEach(async () => {
  await gateway.close();
  await home.dispose();
});

test('N45 T37 after a reboot: stale sockets, pids that belong to strangers now, and a session that goes on', async () => {
  home = createTestHome();
  writeFileSync(join(home.project, 'a.txt'), 'one\n');
  gateway = await connectStdio(home);
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    capability_profile: 'direct_write',
  });
  const [edited] = await session.call({
    name: 'Edit',
    input: { file_path: 'a.txt', old_string: 'one', new_string: 'two' },
  });
  killAll(processesOf(home.root));
  await gateway.close();
  await expect.poll(() => processesOf(home.root)).toEqual([]);
  expect(readdirSync(join(home.state, 'run'))).toHaveLength(2);

  // Strangers have the pids now. Their start times are others.
  const stranger = spawn('/bin/sleep', ['60'], { detached: true, stdio: 'ignore' });
  const pid = stranger.pid ?? 0;
  const database = openLedger(join(home.state, 'state.db'));
  database.run('UPDATE sessions SET runner_pid=?, claude_pid=?', pid, pid);
  database.close();
  try {
    gateway = await connectStdio(home);
    session.client = gateway.client;
    await session.recover();
    expect(session.state).toMatchObject({
      status: 'failed',
      runtime_attached: false,
      pending_turn: null,
    });
    expect(identifyProcess(pid)).toBeDefined();
    await session.continue('Go on.');
    expect(session.state.status).toBe('waiting_for_gpt');
    expect(session.results.map(({ call_id: id, is_error: isError }) => [id, isError])).toEqual([
      [edited?.call_id, false],
    ]);
    const sockets = readdirSync(join(home.state, 'run'));
    expect(sockets).toHaveLength(2);
    expect(existsSync(join(home.state, 'run', sockets[0] ?? ''))).toBe(true);
    await session.stop();
    expect(identifyProcess(pid)).toBeDefined();
  } finally {
    process.kill(-pid, 'SIGKILL');
  }
});
