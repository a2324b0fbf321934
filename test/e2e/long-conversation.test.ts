import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway;

afterEach(async () => {
  await gateway.close();
  await home.dispose();
});

test('a conversation of ten turns grows by the same amount with each turn', async () => {
  home = createTestHome();
  gateway = await connectStdio(home);
  writeFileSync(join(home.project, 'a.txt'), 'the same every time\n'.repeat(20));
  const session = await ScriptedSession.start(gateway.client, { working_directory: home.project });
  const sizes: number[] = [];
  for (let turn = 0; turn < 10; turn += 1) {
    await session.call({ name: 'Read', input: { file_path: 'a.txt' } });
    sizes.push(JSON.stringify(session.state).length);
  }
  // Numbers that count up gain a digit now and then; nothing else may grow.
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(16);
  expect(sizes[0]).toBeLessThan(3_000);
  await session.stop();
});

test('F33 a request for a summary is a turn that says so, takes text alone, and the work goes on', async () => {
  home = createTestHome({ REINS_COMPACT_WINDOW_TOKENS: '100000' });
  gateway = await connectStdio(home);
  const line = `${'x'.repeat(99)}\n`;
  writeFileSync(join(home.project, 'big.txt'), line.repeat(400));
  const session = await ScriptedSession.start(gateway.client, { working_directory: home.project });
  const read = { name: 'Read', input: { file_path: 'big.txt' } };
  for (let turn = 0; turn < 20 && session.state.pending_turn?.purpose === 'step'; turn += 1) {
    await session.call(read, read);
  }
  expect(session.state.pending_turn?.purpose).toBe('compaction');
  expect(session.messages.at(-1)?.kind).toBe('notice');
  expect(session.results.length).toBeGreaterThan(0);

  const refused = await session.reply({ text: 'summary', tool_calls: [read] });
  expect(refused.error?.code).toBe('reply_not_allowed');
  await session.reply({ text: '<analysis>x</analysis><summary>We read big.txt.</summary>' });
  expect(session.state.pending_turn?.purpose).toBe('step');
  const [again] = await session.call(read);
  expect(again?.is_error).toBe(false);
  await session.reply({ text: 'done' });
  expect(session.state.status).toBe('completed');
  await session.stop();
});
