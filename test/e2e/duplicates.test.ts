import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { isSessionId } from '../../src/base/ids.ts';
import { listActions } from '../../src/ledger/actions.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { listSessions } from '../../src/ledger/sessions.ts';
import { type ConnectedGateway, connectHttp, connectStdio } from '../support/gateway.ts';
import { type ClientState, callTool, ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

const TIMES = 50;

let home: TestHome;
let gateways: ConnectedGateway[] = [];

afterEach(async () => {
  await Promise.all(gateways.map((gateway) => gateway.close()));
  gateways = [];
  await home.dispose();
});

/** The same call from every gateway in turn, all at once. */
function everywhere(name: string, args: Record<string, unknown>): Promise<ClientState[]> {
  return Promise.all(
    Array.from({ length: TIMES }, (_, i) => {
      const gateway = gateways[i % gateways.length];
      if (gateway === undefined) throw new Error('no gateway');
      return callTool(gateway.client, name, args);
    }),
  );
}

/** What has to be the same for everybody. */
const essence = ({
  replay: _replay,
  revision: _revision,
  lease_expires_at: _expiry,
  ...state
}: ClientState) => state;

function expectOneEffect(states: readonly ClientState[]): void {
  expect(states.filter(({ replay }) => !replay)).toHaveLength(1);
  expect(states.filter(({ error }) => error !== undefined)).toEqual([]);
  for (const state of states) expect(essence(state)).toEqual(essence(states[0] ?? state));
}

test('N7 F37 the same key from four gateways fifty times at once: one effect, fifty outcomes alike', {
  timeout: 300_000,
}, async () => {
  home = createTestHome();
  gateways = [
    await connectStdio(home),
    await connectHttp(home),
    await connectStdio(home),
    await connectHttp(home),
  ];
  writeFileSync(join(home.project, 'a.txt'), 'count: 0\n');

  const started = await everywhere('native_session_start', {
    prompt: 'x',
    working_directory: home.project,
    capability_profile: 'direct_write',
    idempotency_key: 'one start',
    wait_seconds: 50,
  });
  expectOneEffect(started);
  const database = openLedger(join(home.state, 'state.db'));
  expect(listSessions(database, 10)).toHaveLength(1);

  const [first] = started;
  if (first === undefined || gateways[0] === undefined) throw new Error('nothing was started');
  const ids = { native_session_id: first.native_session_id, lease_id: first.lease_id };
  const replied = await everywhere('native_session_reply_and_wait', {
    ...ids,
    turn_id: first.pending_turn?.turn_id,
    reply_id: 'one reply',
    tool_calls: [
      { name: 'Edit', input: { file_path: 'a.txt', old_string: ': ', new_string: ': 1' } },
    ],
  });
  expectOneEffect(replied);
  expect(readFileSync(join(home.project, 'a.txt'), 'utf8')).toBe('count: 10\n');
  if (!isSessionId(first.native_session_id)) throw new Error('not a session id');
  expect(listActions(database, first.native_session_id)).toHaveLength(1);

  await callTool(gateways[0].client, 'native_session_reply_and_wait', {
    ...ids,
    turn_id: replied[0]?.pending_turn?.turn_id,
    reply_id: 'end',
    text: 'done',
  });
  expectOneEffect(
    await everywhere('native_session_continue', {
      ...ids,
      prompt: 'next',
      idempotency_key: 'one prompt',
    }),
  );

  const recovered = await everywhere('native_session_recover', {
    native_session_id: first.native_session_id,
    recovery_token: first.recovery_token,
    recovery_id: 'one recovery',
    wait_seconds: 20,
  });
  expectOneEffect(recovered);
  expect(recovered[0]?.lease_id).not.toBe(first.lease_id);

  const stopped = await everywhere('native_session_stop', {
    native_session_id: first.native_session_id,
    lease_id: recovered[0]?.lease_id,
    request_id: 'one stop',
  });
  expectOneEffect(stopped);
  expect(stopped[0]?.status).toBe('stopped');
  database.close();
});

function only(): ConnectedGateway {
  const [gateway] = gateways;
  if (gateway === undefined) throw new Error('no gateway');
  return gateway;
}

test('N7 a key survives the gateway that saw it first', async () => {
  home = createTestHome();
  gateways = [await connectStdio(home)];
  const args = { working_directory: home.project, idempotency_key: 'mine', prompt: 'x' };
  const session = await ScriptedSession.start(only().client, args);
  await gateways[0]?.kill();
  gateways = [await connectHttp(home)];
  const again = await ScriptedSession.start(only().client, args);
  expect(again.state.replay).toBe(true);
  expect(again.id).toBe(session.id);
  expect(again.recoveryToken).toBe(session.recoveryToken);
  await again.stop();
});
