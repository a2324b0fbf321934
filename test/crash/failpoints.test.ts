import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { FAILPOINTS } from '../../src/base/failpoint.ts';
import type { ConnectedGateway } from '../support/gateway.ts';
import { callTool, freshKey, ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';
import { attempt, bringBack, connectCrashing } from './support/crash-session.ts';
import { ABSENT, expectConsistent, readOrAbsent } from './support/oracle.ts';

let home: TestHome;
let gateway: ConnectedGateway | undefined;

afterEach(async () => {
  await gateway?.close().catch(() => {});
  gateway = undefined;
  await home.dispose();
});

/** Large enough that a write which is not atomic would be caught half done. */
const BEFORE = `first\n${'x'.repeat(200_000)}\nlast\n`;
const AFTER = BEFORE.replace('first', 'FIRST, and longer');
const NEW = 'made by Write\n';

for (const point of FAILPOINTS.filter(
  (name) => name !== 'turn-stored' && name !== 'lease-rotated',
)) {
  for (const tool of ['Edit', 'Write'] as const) {
    test(`N20 N21 N43 T38 kill -9 at ${point} of ${tool}: the old or the new file, known which, once`, async () => {
      home = createTestHome();
      const edited = join(home.project, 'edited.txt');
      const created = join(home.project, 'deep', 'er', 'created.txt');
      writeFileSync(edited, BEFORE);
      gateway = await connectCrashing(home, point);
      const session = await ScriptedSession.start(gateway.client, {
        working_directory: home.project,
        capability_profile: 'direct_write',
      });
      const call =
        tool === 'Edit'
          ? {
              name: 'Edit',
              input: {
                file_path: 'edited.txt',
                old_string: 'first',
                new_string: 'FIRST, and longer',
              },
            }
          : { name: 'Write', input: { file_path: 'deep/er/created.txt', content: NEW } };
      const reply = { tool_calls: [call] };
      const key = { reply_id: freshKey(), turn_id: session.turnId };
      const answer = await attempt(() => session.reply(reply, key));
      await gateway.close().catch(() => {});

      gateway = await bringBack(home, session);
      expectConsistent(
        home,
        session.id,
        new Map([
          [edited, new Set([BEFORE, AFTER])],
          [created, new Set([ABSENT, NEW])],
        ]),
      );
      const [path, before, after] =
        tool === 'Edit' ? [edited, BEFORE, AFTER] : [created, ABSENT, NEW];
      const happened = readOrAbsent(path) === after;
      // Acknowledged means durable: what the first call or the turn after the crash calls done, is done.
      const told = [...(answer?.pending_turn?.messages ?? []), ...session.messages].filter(
        ({ kind }) => kind === 'tool_result',
      );
      for (const result of told) expect(result.is_error).toBe(!happened);
      if (!happened) expect(readOrAbsent(path)).toBe(before);

      // The same key does nothing a second time, whatever became of it.
      const again = await session.reply(reply, key);
      expect(
        again.replay || ['turn_finished', 'turn_unknown'].includes(again.error?.code ?? ''),
      ).toBe(true);
      expect(readOrAbsent(path) === after).toBe(happened);
      await session.stop();
    });
  }
}

test('N45 kill -9 when the first turn has been stored: the session is there and goes on', async () => {
  home = createTestHome();
  gateway = await connectCrashing(home, 'turn-stored');
  const key = freshKey();
  const args = { prompt: 'x', working_directory: home.project, idempotency_key: key };
  const lost = await callTool(gateway.client, 'native_session_start', args);
  expect(lost.pending_turn).toBeNull();
  await gateway.close();
  gateway = await connectCrashing(home);
  const again = await ScriptedSession.start(gateway.client, { ...args, idempotency_key: key });
  expect(again.state.replay).toBe(true);
  expect(again.state.status).toBe('failed');
  await again.continue('Go on.');
  expect(again.state.status).toBe('waiting_for_gpt');
  expectConsistent(home, again.id, new Map());
  await again.stop();
});

test('N45 kill -9 of the gateway when the lease has been rotated: the same recovery gives the same lease', async () => {
  home = createTestHome();
  gateway = await connectCrashing(home);
  const session = await ScriptedSession.start(gateway.client, { working_directory: home.project });
  await gateway.close();
  gateway = await connectCrashing(home, 'lease-rotated');
  session.client = gateway.client;
  const recovery = { recovery_id: freshKey() };
  expect(await attempt(() => session.recover(recovery))).toBeUndefined();
  const oldLease = session.leaseId;
  gateway = await connectCrashing(home);
  session.client = gateway.client;
  await session.recover(recovery);
  expect(session.state.replay).toBe(true);
  expect(session.leaseId).not.toBe(oldLease);
  expect((await session.status({ lease_id: oldLease })).error?.code).toBe('lease_stale');
  expect(session.state.status).toBe('waiting_for_gpt');
  expect(session.state.pending_turn?.full_context).toBe(true);
  await session.stop();
});
