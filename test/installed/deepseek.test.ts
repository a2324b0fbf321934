import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { connectStdio } from '../support/gateway.ts';
import { runReins } from '../support/run-reins.ts';
import { openSubagentLab, type SubagentLab } from '../support/subagents.ts';
import { processesOf } from '../support/test-home.ts';
import { until } from '../support/until.ts';

const KEY = 'canary-of-the-deepseek-key';

let lab: SubagentLab | undefined;

afterEach(async () => {
  await lab?.dispose();
  lab = undefined;
});

const open = async (): Promise<SubagentLab> => {
  lab = await openSubagentLab(KEY);
  return lab;
};

/** A promise and how to fulfil it. */
function gate(): { readonly passed: Promise<void>; open(): void } {
  let openGate = (): void => {};
  const passed = new Promise<void>((resolve) => {
    openGate = resolve;
  });
  return { passed, open: () => openGate() };
}

test('N48 N30 N31 N33 a task is handed over, done in the worktree by a model of its own, and its result checked', async () => {
  const { session, deepseek, home, root, start, ended, summaries } = await open();
  expect(session.state.pending_turn?.tools?.map(({ name }) => name).slice(-3)).toEqual([
    'deepseek_subagent_start',
    'deepseek_subagent_get',
    'deepseek_subagent_stop',
  ]);
  expect(session.state['deepseek_route']).toEqual({
    sonnet: 'deepseek-flash',
    opus: 'deepseek-flash',
    fable: 'deepseek-v4-pro',
  });
  deepseek.script(
    { thinking: 'First a look.', text: 'Reading.', calls: [read('a.txt')] },
    {
      thinking: 'Now the change.',
      calls: [
        edit('a.txt', 'two', 'three'),
        { tool: 'Write', input: { file_path: 'new/b.txt', content: 'b\n' } },
        { tool: 'RunCommand', input: { argv: ['grep', '-c', 'three', 'a.txt'] } },
      ],
    },
    { text: 'Changed two to three in a.txt, checked with grep.' },
  );
  const id = await start('Change two to three in a.txt.');
  const done = await ended();
  expect(done).toMatchObject({
    subsession_id: id,
    model_class: 'sonnet',
    model: 'deepseek-flash',
    state: 'completed',
    outcome: null,
    turns: 3,
    last_text: 'Changed two to three in a.txt, checked with grep.',
  });
  expect(done.actions.map(({ tool, state }) => `${tool} ${state}`)).toEqual([
    'Read applied',
    'Edit applied',
    'Write applied',
    'RunCommand applied',
  ]);
  // The main loop looks for itself, and has its write tools again.
  const [seen] = await session.call({ name: 'Read', input: { file_path: 'a.txt' } });
  expect(seen?.text).toContain('three');
  expect(readFileSync(join(root, 'new/b.txt'), 'utf8')).toBe('b\n');
  expect(readFileSync(join(home.project, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  const [written] = await session.call({
    name: 'Edit',
    input: { file_path: 'a.txt', old_string: 'three', new_string: 'four' },
  });
  expect(written?.is_error).toBe(false);
  expect(summaries()).toMatchObject([{ subsession_id: id, state: 'completed' }]);
  expect(session.state['active_deepseek_subsession_id']).toBeNull();
  await session.reply({ text: 'checked' });
  expect(session.state.status).toBe('completed');

  // What went over the line: the task and the files, by the configured model, and nothing that names anybody.
  for (const request of deepseek.requests) {
    expect(request.model).toBe('deepseek-flash');
    expect(request.headers['x-api-key']).toBe(KEY);
    expect(Object.keys(request)).not.toContain('metadata');
    expect(JSON.stringify(request)).not.toMatch(/billing|Anthropic's|Do what the script says/);
    expect(JSON.stringify(request)).toContain(root);
  }
  // Everything that it did is in the timeline, by its name, and can be undone with the rest.
  const shown = await runReins(home, 'show', session.id);
  expect(shown.stdout).toMatch(/subagent +completed after 3 turns, 300 tokens in and 60 out/);
  expect(shown.stdout).toContain('↳ ✓ Edit');
  expect((await runReins(home, 'ledger', 'verify')).exitCode).toBe(0);
  expect((await runReins(home, 'undo', session.id)).exitCode).toBe(0);
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  expect(existsSync(join(root, 'new/b.txt'))).toBe(false);
});

test('N48 N32 while it works the main loop looks, and changes nothing', async () => {
  const { session, deepseek, start, get } = await open();
  const held = gate();
  deepseek.script({ calls: [edit('a.txt', 'two', 'three')] }, { text: 'late', when: held.passed });
  await session.call({ name: 'Read', input: { file_path: 'a.txt' } });
  const both = await session.reply({
    tool_calls: [
      { name: 'deepseek_subagent_start', input: { task: 'x', model_class: 'fable' } },
      { name: 'Read', input: { file_path: 'a.txt' } },
    ],
  });
  expect(both.error).toMatchObject({ code: 'reply_not_allowed' });
  expect(both.error?.message).toContain('only call');
  const id = await start('x', { model_class: 'fable' });
  expect(await get({ wait_seconds: 0 })).toMatchObject({ model: 'deepseek-v4-pro' });
  expect(session.state['active_deepseek_subsession_id']).toBe(id);

  const turn = session.turnId;
  const refused: [string, Record<string, unknown>][] = [
    ['Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'x' }],
    ['Write', { file_path: 'c.txt', content: 'c' }],
    ['NotebookEdit', { notebook_path: 'n.ipynb', cell_id: 'm1', new_source: 'x' }],
    ['RunCommand', { argv: ['true'] }],
    ['deepseek_subagent_start', { task: 'y', model_class: 'opus' }],
  ];
  for (const [name, input] of refused) {
    const { error } = await session.reply({ tool_calls: [{ name, input }] });
    expect(error).toMatchObject({ code: 'reply_not_allowed' });
    expect(error?.message).toContain(`"${name}"`);
    const mixed = await session.reply({
      tool_calls: [
        { name: 'Read', input: { file_path: 'a.txt' } },
        { name, input },
      ],
    });
    expect(mixed.error).toMatchObject({ code: 'reply_not_allowed' });
  }
  expect((await session.reply({ text: 'over' })).error).toMatchObject({
    code: 'reply_not_allowed',
  });
  await session.status();
  expect(session.turnId).toBe(turn);
  const results = await session.call(
    { name: 'FindFiles', input: { extension: 'txt' } },
    { name: 'SearchText', input: { query: 'one' } },
    { name: 'deepseek_subagent_get', input: { wait_seconds: 0 } },
  );
  expect(results.map(({ is_error: isError }) => isError)).toEqual([false, false, false]);
  held.open();
  expect(await get({ wait_seconds: 30 })).toMatchObject({ state: 'completed' });
  // What it has not seen since it changed, the main loop cannot overwrite.
  const [stale] = await session.call({
    name: 'Write',
    input: { file_path: 'a.txt', content: 'mine\n' },
  });
  expect(stale?.text).toMatch(/^file_changed/);
});

test('N48 N34 a gateway that restarts finds the subagent at work, and its end', async () => {
  const opened = await open();
  const { deepseek, home, start } = opened;
  const held = gate();
  deepseek.script({ text: 'the end', when: held.passed });
  const id = await start('x');
  await opened.gateway.kill();
  opened.gateway = await connectStdio(home);
  opened.session.client = opened.gateway.client;
  await opened.session.recover();
  expect(opened.session.state['active_deepseek_subsession_id']).toBe(id);
  expect(opened.summaries()).toMatchObject([{ subsession_id: id, state: 'running' }]);
  held.open();
  expect(await opened.ended()).toMatchObject({ state: 'completed', last_text: 'the end' });
  expect(deepseek.requests).toHaveLength(1);
});

test('N48 N34 stopping ends it and waits for that; stopping the session does so first', async () => {
  const { session, deepseek, home, start, get, summaries } = await open();
  deepseek.script({ calls: [edit('a.txt', 'two', 'three')] }, { silent: true });
  const first = await start('x');
  await until(() => deepseek.requests.length === 2);
  const before = processesOf(home.root).length;
  const [stopped] = await session.call({ name: 'deepseek_subagent_stop', input: {} });
  expect(JSON.parse(stopped?.text ?? '')).toMatchObject({
    subsession_id: first,
    state: 'stopped',
    outcome: { code: 'stopped_by_client' },
    action_count: 1,
  });
  expect(processesOf(home.root).length).toBeLessThan(before);
  // A second stop changes nothing.
  const [again] = await session.call({
    name: 'deepseek_subagent_stop',
    input: { subsession_id: first },
  });
  expect(JSON.parse(again?.text ?? '')).toMatchObject({ outcome: { code: 'stopped_by_client' } });

  deepseek.script({ silent: true });
  const second = await start('y');
  await until(() => deepseek.requests.length === 3);
  expect(await get({ wait_seconds: 0 })).toMatchObject({ state: 'running' });
  await session.stop();
  expect(session.state.status).toBe('stopped');
  expect(summaries()).toMatchObject([
    { subsession_id: first, state: 'stopped' },
    { subsession_id: second, state: 'stopped', outcome: { code: 'session_ended' } },
  ]);
  await until(() => processesOf(home.root).every((pid) => pid === lab?.gateway.pid));
  const { stdout } = await runReins(home, 'ledger', 'export', session.id);
  expect(stdout.lastIndexOf('subagent_ended')).toBeLessThan(stdout.indexOf('session_stopped'));
  expect(readdirSync(join(home.state, 'sessions', session.id))).not.toContain('subagent');
});

function read(path: string) {
  return { tool: 'Read', input: { file_path: path } };
}

function edit(path: string, from: string, to: string) {
  return { tool: 'Edit', input: { file_path: path, old_string: from, new_string: to } };
}
