import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { fingerprint, git, makeRepository } from '../support/repository.ts';
import { runReins } from '../support/run-reins.ts';
import { ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, processesOf, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway;

beforeEach(() => {
  home = createTestHome();
});

afterEach(async () => {
  await gateway.close().catch(() => {});
  await home.dispose();
});

const CELL = { cell_type: 'markdown', id: 'm1', metadata: {}, source: 'old' };
const NOTEBOOK = { cells: [CELL], metadata: {}, nbformat: 4, nbformat_minor: 5 };

test('N48 N11 N19 N22 N24 a worktree session reads, edits, writes, changes a notebook, runs, resumes and reads again', async () => {
  makeRepository(home.project, {
    'a.txt': 'one\ntwo\n',
    'n.ipynb': JSON.stringify(NOTEBOOK, null, 1),
    'test.sh': 'set -e\ngrep -q three a.txt\necho passed >report\ncat report\n',
  });
  // Git's own status refreshes the index, so it comes before.
  const status = git(home.project, 'status', '--porcelain=v2', '--branch');
  const before = fingerprint(home.project);

  gateway = await connectStdio(home);
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    capability_profile: 'worktree_write',
  });
  const root = String(session.state.working_directory);
  expect(session.state).toMatchObject({
    source_directory: home.project,
    workspace: {
      kind: 'worktree',
      write_root: root,
      source_branch: 'main',
      worktree_state: 'ready',
    },
  });
  expect(root).not.toBe(home.project);

  await session.call({ name: 'Read', input: { file_path: 'a.txt' } });
  const results = await session.call(
    { name: 'Edit', input: { file_path: 'a.txt', old_string: 'two', new_string: 'three' } },
    { name: 'Write', input: { file_path: 'new/b.txt', content: 'b\n' } },
    { name: 'NotebookEdit', input: { notebook_path: 'n.ipynb', cell_id: 'm1', new_source: 'new' } },
    { name: 'RunCommand', input: { argv: ['sh', 'test.sh'] } },
    { name: 'RunCommand', input: { argv: ['git', 'status', '--porcelain'] } },
  );
  expect(results.map(({ is_error: isError }) => isError)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
  expect(results[3]?.text).toMatch(/^Exit code 0 .*--- stdout\npassed$/s);
  expect(results[4]?.text).toMatch(/ M a\.txt\n M n\.ipynb\n\?\? new\//);
  expect(existsSync(join(root, 'report'))).toBe(false);
  await session.reply({ text: 'Changed.' });
  await session.stop();

  await session.continue('Look again.');
  expect(session.state.working_directory).toBe(root);
  const [again] = await session.call({ name: 'Read', input: { file_path: 'a.txt' } });
  expect(again?.text).toContain('2\tthree');
  await session.reply({ text: 'Done.' });
  await session.stop();

  expect(fingerprint(home.project)).toBe(before);
  expect(git(home.project, 'status', '--porcelain=v2', '--branch')).toBe(status);
  expect(JSON.parse(readFileSync(join(root, 'n.ipynb'), 'utf8')).cells[0].source).toBe('new');
  expect(git(root, 'rev-parse', '--abbrev-ref', 'HEAD').trim()).toBe('HEAD');
  expect((await runReins(home, 'worktrees')).stdout).toContain(root);
  await gateway.close();
  await expect.poll(() => processesOf(home.root), { timeout: 10_000 }).toEqual([]);
});

test('N24 a worktree is removed by name, and not while it has changes that would be lost', async () => {
  makeRepository(home.project, { 'a.txt': 'one\n' });
  const before = fingerprint(home.project);
  gateway = await connectStdio(home);
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    capability_profile: 'worktree_write',
  });
  const root = String(session.state.working_directory);
  const running = await runReins(home, 'worktrees', 'remove', session.id);
  expect([running.exitCode, running.stderr]).toEqual([
    1,
    expect.stringContaining('waiting_for_gpt'),
  ]);
  await session.call({ name: 'Write', input: { file_path: 'b.txt', content: 'b\n' } });
  await session.reply({ text: 'Done.' });
  await session.stop();
  const refused = await runReins(home, 'worktrees', 'remove', session.id);
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('b.txt')]);
  expect(existsSync(root)).toBe(true);
  expect((await runReins(home, 'prune', '--older-than', '1', '--yes')).stdout).toContain('Nothing');
  const removed = await runReins(home, 'worktrees', 'remove', session.id, '--discard-changes');
  expect(removed.exitCode).toBe(0);
  expect(existsSync(root)).toBe(false);
  expect(existsSync(join(home.project, '.git/worktrees'))).toBe(false);
  expect(fingerprint(home.project)).toBe(before);
  await session.continue('Go on.');
  expect(session.state.launch_error?.code).toBe('workspace_unavailable');
});

test('N24 a worktree that is gone, or tied to another place, is said to be so', async () => {
  makeRepository(home.project, { 'a.txt': 'one\n' });
  gateway = await connectStdio(home);
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    capability_profile: 'worktree_write',
  });
  const root = String(session.state.working_directory);
  await session.stop();
  writeFileSync(join(root, '.git'), 'gitdir: /evil\n');
  await session.continue('Go on.');
  expect(session.state.launch_error?.code).toBe('workspace_unavailable');
});
