import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { runReins } from '../support/run-reins.ts';
import { ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, findPrivateText, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway | undefined;

beforeEach(() => {
  home = createTestHome();
});

afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await home.dispose();
});

async function playSession(): Promise<ScriptedSession> {
  gateway = await connectStdio(home);
  writeFileSync(join(home.project, 'a.txt'), 'one\ntwo\nthree\n');
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    capability_profile: 'direct_write',
    session_label: 'my \u001b[31mlabel\u202e',
    prompt: 'Turn two into 2.\nThen stop.',
  });
  await session.call({
    name: 'Edit',
    input: { file_path: 'a.txt', old_string: 'two', new_string: '2' },
  });
  await session.call({
    name: 'Edit',
    input: { file_path: 'a.txt', old_string: 'nothing', new_string: 'x' },
  });
  await session.call({ name: 'Write', input: { file_path: 'empty.txt', content: '' } });
  await session.reply({ text: 'Done.' });
  return session;
}

test('N46 sessions and show tell what happened, readably, with diffs and without control characters', async () => {
  const session = await playSession();
  const list = await runReins(home, 'sessions');
  expect(list.exitCode).toBe(0);
  expect(list.stdout).toContain(session.id);
  expect(list.stdout).toContain('completed');
  expect(list.stdout).toContain('my \\u{1b}[31mlabel\\u{202e}');

  const shown = await runReins(home, 'show', session.id.slice(0, 12));
  expect(shown.exitCode).toBe(0);
  expect(shown.stdout).toContain('Turn two into 2. ⏎ Then stop.');
  expect(shown.stdout).toMatch(/-two\n\s+\+2\n/);
  expect(shown.stdout).toContain('text_not_found');
  expect(shown.stdout).toContain('completed    Done.');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for exactly those
  expect(list.stdout + shown.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  expect(findPrivateText(shown.stdout)).toBeUndefined();

  const json = JSON.parse((await runReins(home, 'show', '--json', session.id)).stdout);
  expect(json.timeline.filter((entry: { diff?: string }) => entry.diff !== undefined)).toHaveLength(
    2,
  );
  expect(json.session.working_directory).toBe(home.project);
  expect(findPrivateText(JSON.stringify(json))).toBeUndefined();
  await session.stop();
});

test('F42 a text to paste takes the session over', async () => {
  const session = await playSession();
  const { stdout } = await runReins(home, 'show', session.id, '--resume-text');
  expect(stdout).toContain(session.id);
  expect(stdout).toContain(session.recoveryToken);
  await session.stop();
});

test('commands say what to do when there is nothing or when they are misused', async () => {
  expect(await runReins(home, 'sessions')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('No sessions yet'),
  });
  const unknown = await runReins(home, 'show', 'ns_nothing');
  expect(unknown).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('session_unknown'),
  });
  expect((await runReins(home, 'frobnicate')).stderr).toContain('--help');
  expect((await runReins(home, 'serve', '--port', 'x')).exitCode).toBe(1);
  const lease = { ...home, env: { ...home.env, REINS_LEASE_SECONDS: '604801' } };
  expect((await runReins(lease, 'sessions')).stderr).toMatch(/REINS_LEASE_SECONDS.*1 to 604800/);
});

test('the demo runs to its end, shows the diff and leaves nothing behind', async () => {
  const demo = fileURLToPath(new URL('../../dist/demo.js', import.meta.url));
  const tmp = join(home.root, 'tmp');
  mkdirSync(tmp);
  const { stdout } = await promisify(execFile)(process.execPath, [demo], {
    env: { PATH: '/usr/bin:/bin', HOME: home.root, TMPDIR: tmp },
    encoding: 'utf8',
  });
  expect(stdout).toContain('-export const BOOK_TAX = 0.07;');
  expect(stdout).toContain('+export const BOOK_TAX = 0.19;');
  expect(stdout).toContain('stopped');
  expect(readdirSync(tmp)).toEqual([]);
});
