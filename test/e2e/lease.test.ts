import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { listSessions } from '../../src/ledger/sessions.ts';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { callTool, ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, processesOf, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway;

beforeEach(async () => {
  home = createTestHome({ REINS_LEASE_SECONDS: '25' });
  gateway = await connectStdio(home);
});

afterEach(async () => {
  await gateway.close();
  await home.dispose();
});

test('N44 a lease runs out without any gateway, ends the processes and leaves a session that goes on', async () => {
  const session = await ScriptedSession.start(gateway.client, { working_directory: home.project });
  await gateway.kill();
  await expect.poll(() => processesOf(home.root), { timeout: 80_000 }).toEqual([]);

  gateway = await connectStdio(home);
  session.client = gateway.client;
  const seen = await session.status();
  expect(seen).toMatchObject({
    status: 'lease_expired',
    runtime_attached: false,
    pending_turn: null,
  });
  expect((await session.reply({ text: 'late' })).error?.code).toBe('lease_expired');
  expect((await session.continue('late')).error?.code).toBe('lease_expired');

  await session.recover();
  expect(session.state.status).toBe('lease_expired');
  await session.continue('Go on.');
  expect(session.state.status).toBe('waiting_for_gpt');
  expect(session.messages.at(-1)).toEqual({ kind: 'task', text: 'Go on.' });
  await session.stop();
});

test('N44 every accepted call extends the lease, and a refused one does not', async () => {
  const session = await ScriptedSession.start(gateway.client, { working_directory: home.project });
  for (let i = 0; i < 5; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const before = session.state.lease_expires_at ?? '';
    await session.status();
    expect((session.state.lease_expires_at ?? '') > before).toBe(true);
  }
  expect(session.state.status).toBe('waiting_for_gpt');
  const before = session.state.lease_expires_at;
  await callTool(gateway.client, 'native_session_status', {
    native_session_id: session.id,
    lease_id: 'lease_wrong',
  });
  await callTool(gateway.client, 'native_session_reply_and_wait', {
    native_session_id: session.id,
    lease_id: session.leaseId,
    turn_id: 'turn_wrong',
    reply_id: 'x',
    text: 'x',
  });
  const database = openLedger(`${home.state}/state.db`);
  expect(listSessions(database, 1)[0]?.leaseExpiresAt).toBe(before);
  database.close();
  await session.stop();
});

test('N45 T36 a call that waits when its lease is rotated away gets nothing of the session', async () => {
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    wait_seconds: 0,
  });
  const waiting = session.status({ wait_seconds: 30 });
  const other = await connectStdio(home);
  const recovered = await callTool(other.client, 'native_session_recover', {
    native_session_id: session.id,
    recovery_token: session.recoveryToken,
    recovery_id: 'take-over',
    wait_seconds: 30,
  });
  expect(recovered.status).toBe('waiting_for_gpt');
  const seen = await waiting;
  const late = seen.error === undefined ? await session.status() : seen;
  expect(late.error?.code).toBe('lease_stale');
  expect(late.pending_turn).toBeNull();
  await other.close();
});
