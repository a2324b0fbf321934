import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, processesOf, type TestHome } from '../support/test-home.ts';

const NOTEBOOK = `${JSON.stringify({ cells: [{ cell_type: 'code', execution_count: 1, id: 'c1', metadata: {}, outputs: [], source: ['print(1)'] }], metadata: {}, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`;

let home: TestHome;
let gateway: ConnectedGateway;

beforeEach(() => {
  home = createTestHome();
});

afterEach(async () => {
  await gateway.close().catch(() => {});
  await home.dispose();
});

test('N48 N11 N19 N20 a direct-write session reads, edits, writes, resumes and reads again', async () => {
  const script = join(home.project, 'run.sh');
  writeFileSync(script, '#!/bin/sh\r\necho one\r\necho two\r\n');
  chmodSync(script, 0o755);
  writeFileSync(join(home.project, 'n.ipynb'), NOTEBOOK);

  gateway = await connectStdio(home);
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    capability_profile: 'direct_write',
  });
  expect(session.state.pending_turn?.tools?.map(({ name }) => name)).toEqual([
    'Read',
    'FindFiles',
    'SearchText',
    'Edit',
    'Write',
    'NotebookEdit',
    'RunCommand',
  ]);
  await session.call({ name: 'Read', input: { file_path: 'run.sh' } });

  const edits = await session.call(
    {
      name: 'Edit',
      input: {
        file_path: 'run.sh',
        old_string: 'echo one\necho two',
        new_string: 'echo 1\necho two',
      },
    },
    {
      name: 'Edit',
      input: { file_path: 'run.sh', old_string: 'echo 1', new_string: 'echo 1\necho 1.5' },
    },
    { name: 'Write', input: { file_path: 'docs/deep/notes.md', content: '# Notes\n' } },
  );
  expect(edits.map(({ is_error: isError }) => isError)).toEqual([false, false, false]);
  expect(readFileSync(script, 'utf8')).toBe('#!/bin/sh\r\necho 1\r\necho 1.5\r\necho two\r\n');
  expect(statSync(script).mode & 0o777).toBe(0o755);
  expect(readFileSync(join(home.project, 'docs/deep/notes.md'), 'utf8')).toBe('# Notes\n');

  const [notebook, ran] = await session.call(
    {
      name: 'NotebookEdit',
      input: { notebook_path: 'n.ipynb', cell_id: 'c1', new_source: 'print(2)' },
    },
    {
      name: 'RunCommand',
      input: {
        argv: ['sh', '-c', 'tr -d "\\r" <run.sh | sh; grep -c "print(2)" n.ipynb; touch new'],
      },
    },
  );
  expect(notebook).toMatchObject({ is_error: false });
  expect(ran?.text).toContain('Exit code 0');
  expect(ran?.text).toMatch(/stdout\n1\n1\.5\ntwo\n1$/);
  expect(JSON.parse(readFileSync(join(home.project, 'n.ipynb'), 'utf8')).cells[0].source).toEqual([
    'print(2)',
  ]);
  expect(existsSync(join(home.project, 'new'))).toBe(false);

  await session.reply({ text: 'Changed.' });
  const claude = session.state.claude_session_id;
  await session.continue('Check it.');
  expect(session.state.claude_session_id).toBe(claude);
  expect(session.messages).toEqual([{ kind: 'task', text: 'Check it.' }]);
  await session.reply({ text: 'Stopping here.' });
  await session.stop();
  expect(session.state.runtime_attached).toBe(false);

  await session.continue('And once more after the stop.');
  expect(session.state.status).toBe('waiting_for_gpt');
  expect(session.state.claude_session_id).toBe(claude);
  expect(session.messages.at(-1)?.text).toBe('And once more after the stop.');
  const [again] = await session.call({ name: 'Read', input: { file_path: 'run.sh' } });
  expect(again?.text).toContain('2\techo 1\n3\techo 1.5\n4\techo two');
  await session.reply({ text: 'Done.' });
  await session.stop();

  expect(existsSync(join(home.project, 'docs/deep/notes.md'))).toBe(true);
  await gateway.close();
  await expect.poll(() => processesOf(home.root), { timeout: 10_000 }).toEqual([]);
});
