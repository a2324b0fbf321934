import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isSessionId } from '../../src/base/ids.ts';
import { listActions } from '../../src/ledger/actions.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { runReins } from '../support/run-reins.ts';
import { ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway;
let session: ScriptedSession;

const BEFORE = '\ufeffone\r\ntwo\r\nthree';

beforeEach(async () => {
  home = createTestHome();
  gateway = await connectStdio(home);
  writeFileSync(join(home.project, 'a.txt'), BEFORE);
  chmodSync(join(home.project, 'a.txt'), 0o640);
  session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    capability_profile: 'direct_write',
  });
  await session.call(
    { name: 'Edit', input: { file_path: 'a.txt', old_string: 'two', new_string: '2' } },
    { name: 'Edit', input: { file_path: 'a.txt', old_string: 'three', new_string: '3' } },
    { name: 'Write', input: { file_path: 'new/b.txt', content: 'made\n' } },
    { name: 'Write', input: { file_path: 'empty.txt', content: '' } },
  );
});

afterEach(async () => {
  await gateway.close();
  await home.dispose();
});

const a = (): string => readFileSync(join(home.project, 'a.txt'), 'utf8');
const AFTER = '\ufeffone\r\n2\r\n3';

function actionIds(tool: string): string[] {
  const database = openLedger(join(home.state, 'state.db'));
  if (!isSessionId(session.id)) throw new Error('not a session id');
  const ids = listActions(database, session.id)
    .filter((action) => action.tool === tool)
    .map(({ id }) => id);
  database.close();
  return ids;
}

test('B3 undo restores content, mode and absence exactly, newest first, and is itself recorded', async () => {
  await session.reply({ text: 'Done.' });
  const dry = await runReins(home, 'undo', session.id, '--dry-run');
  expect(dry.exitCode).toBe(0);
  expect(dry.stdout).toContain('4 changes would be undone');
  expect(dry.stdout).toMatch(/-2\r?\n?/);
  expect(a()).toBe(AFTER);

  const undone = await runReins(home, 'undo', session.id);
  expect(undone).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('4 changes undone'),
  });
  expect(a()).toBe(BEFORE);
  expect(statSync(join(home.project, 'a.txt')).mode & 0o777).toBe(0o640);
  expect(existsSync(join(home.project, 'new/b.txt'))).toBe(false);
  expect(existsSync(join(home.project, 'empty.txt'))).toBe(false);
  expect((await runReins(home, 'show', session.id)).stdout).toContain('↶ Edit');
  expect((await runReins(home, 'ledger', 'verify')).exitCode).toBe(0);
  expect((await runReins(home, 'undo', session.id)).stdout).toContain('no change left to undo');

  // The conversation goes on, and an edit that builds on what was undone is refused by compare-and-swap.
  await session.continue('Again.');
  const [edit] = await session.call({
    name: 'Edit',
    input: { file_path: 'a.txt', old_string: 'two', new_string: 'zwei' },
  });
  expect(edit?.is_error).toBe(false);
  expect(a()).toBe(BEFORE.replace('two', 'zwei'));
  await session.stop();
});

test('B3 one action is undone alone, and an older one of the same file only after the newer', async () => {
  await session.stop();
  const [older = '', newer = ''] = actionIds('Edit');
  const refused = await runReins(home, 'undo', session.id, older);
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('undo_refused') });
  expect(a()).toBe(AFTER);
  expect((await runReins(home, 'undo', session.id, newer)).exitCode).toBe(0);
  expect(a()).toBe('\ufeffone\r\n2\r\nthree');
  expect((await runReins(home, 'undo', session.id, older)).exitCode).toBe(0);
  expect(a()).toBe(BEFORE);
  expect((await runReins(home, 'undo', session.id, older)).stderr).toContain('undo_refused');
  expect((await runReins(home, 'undo', session.id, 'act_x')).stderr).toContain('action_unknown_id');
});

test('B3 a file that changed since is left alone, and so is everything else of that undo', async () => {
  await session.stop();
  writeFileSync(join(home.project, 'new/b.txt'), 'made by somebody else\n');
  const refused = await runReins(home, 'undo', session.id);
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('undo_refused') });
  expect(a()).toBe(AFTER);
  expect(readFileSync(join(home.project, 'new/b.txt'), 'utf8')).toBe('made by somebody else\n');
});

test('B3 a session that is at work is not undone under its hands', async () => {
  const refused = await runReins(home, 'undo', session.id);
  expect(refused).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('native_session_stop'),
  });
  expect(a()).toBe(AFTER);
  await session.stop();
});

test('B6 an exported timeline verifies by itself, and any change to it is found and named', async () => {
  await session.stop();
  const { stdout } = await runReins(home, 'ledger', 'export', session.id);
  const file = join(home.root, 'export.jsonl');
  const check = async (text: string) => {
    writeFileSync(file, text);
    return runReins(home, 'ledger', 'verify', '--file', file);
  };
  expect((await check(stdout)).exitCode).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  const without = (index: number): string =>
    [...lines.slice(0, index), ...lines.slice(index + 1)].join('\n');
  const swapped = [...lines.slice(0, 3), lines[4], lines[3], ...lines.slice(5)].join('\n');
  for (const text of [
    without(3),
    without(lines.length - 1),
    swapped,
    stdout.replace('"applied"', '"refused"').replace('direct_write', 'read_only'),
    stdout.replace(/"at":"2/, '"at":"1'),
  ]) {
    const found = await check(text);
    expect(found.exitCode, text.slice(0, 300)).toBe(1);
    expect(found.stderr).toContain('ledger_broken');
  }
});

const TAMPERING: readonly [string, string][] = [
  [
    'an altered event',
    `UPDATE events SET data=replace(data, 'direct_write', 'read_only') WHERE sequence=1`,
  ],
  ['a missing event', 'DELETE FROM events WHERE sequence=4'],
  ['a missing last event', 'DELETE FROM events WHERE sequence=(SELECT MAX(sequence) FROM events)'],
  [
    'events that changed places',
    'UPDATE events SET sequence=CASE sequence WHEN 4 THEN 1005 WHEN 5 THEN 1004 ELSE sequence END',
  ],
  ['an altered reply', `UPDATE turns SET reply_text='"no"' WHERE sequence=1`],
  [
    'an altered receipt',
    `UPDATE actions SET receipt=replace(receipt, 'Replaced', 'Read') WHERE tool='Edit'`,
  ],
  [
    'an altered before-image',
    `UPDATE blobs SET bytes=X'00' WHERE sha256 IN (SELECT before_sha256 FROM actions)`,
  ],
  ['a missing before-image', 'DELETE FROM blobs'],
];

for (const [what, sql] of TAMPERING) {
  test(`B6 ledger verify finds ${what}`, async () => {
    await session.stop();
    expect((await runReins(home, 'ledger', 'verify')).exitCode).toBe(0);
    const database = openLedger(join(home.state, 'state.db'));
    database.execute(sql);
    database.close();
    const found = await runReins(home, 'ledger', 'verify', session.id);
    expect(found).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('ledger_broken') });
    expect(found.stderr).toMatch(/Event \d+ of session ns_/);
  });
}
