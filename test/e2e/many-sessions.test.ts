import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type ConnectedGateway, connectHttp, connectStdio } from '../support/gateway.ts';
import { ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

const SESSIONS = 16;
const TURNS = 20;

let home: TestHome;
let gateways: ConnectedGateway[] = [];

afterEach(async () => {
  await Promise.all(gateways.map((gateway) => gateway.close()));
  gateways = [];
  await home.dispose();
});

/** One session: counts a file up, one edit a turn, and checks that each result is its own. */
async function drive(client: ConnectedGateway['client'], index: number): Promise<string> {
  const directory = join(home.project, `p${index}`);
  mkdirSync(directory);
  const file = join(directory, 'count.txt');
  writeFileSync(file, `session ${index} turn 0\n`);
  const session = await ScriptedSession.start(client, {
    working_directory: directory,
    capability_profile: 'direct_write',
    prompt: `task of ${index}`,
    wait_seconds: 50,
  });
  while (session.state.status === 'starting') await session.status({ wait_seconds: 40 });
  expect(session.messages.find(({ kind }) => kind === 'task')?.text).toBe(`task of ${index}`);
  for (let turn = 1; turn <= TURNS; turn += 1) {
    const results = await session.call(
      { name: 'Read', input: { file_path: 'count.txt' } },
      {
        name: 'Edit',
        input: {
          file_path: 'count.txt',
          old_string: `turn ${turn - 1}`,
          new_string: `turn ${turn}`,
        },
      },
    );
    expect(results.map(({ text }) => text)).toEqual([
      `1\tsession ${index} turn ${turn - 1}`,
      expect.stringContaining(file),
    ]);
  }
  expect(session.state.pending_turn?.sequence).toBe(TURNS + 1);
  await session.reply({ text: `done ${index}` });
  expect(session.state.last_result?.text).toBe(`done ${index}`);
  await session.stop();
  return readFileSync(file, 'utf8');
}

test('B7 16 sessions of 20 turns at once, over two fronts: nothing lost and nothing crossed', {
  timeout: 600_000,
}, async () => {
  home = createTestHome();
  gateways = [await connectStdio(home), await connectHttp(home)];
  const contents = await Promise.all(
    Array.from({ length: SESSIONS }, (_, index) => {
      const gateway = gateways[index % gateways.length];
      if (gateway === undefined) throw new Error('no gateway');
      return drive(gateway.client, index);
    }),
  );
  expect(contents).toEqual(
    Array.from({ length: SESSIONS }, (_, index) => `session ${index} turn ${TURNS}\n`),
  );
});
