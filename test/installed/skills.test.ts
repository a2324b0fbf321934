import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sha256 } from '../../src/base/sha256.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { runReins } from '../support/run-reins.ts';
import { callTool, freshKey, ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, killAll, processesOf, type TestHome } from '../support/test-home.ts';

const CANARY = 'canary-of-the-instructions';
const REVIEW = `---\nname: review\nallowed-tools: Bash\n---\n\n# Review\r\nBe kind. ${CANARY}\n`;
const STYLE = `Short sentences. ${CANARY}\n`;
const PINS = [
  { skill_id: 'personal:review', content_sha256: sha256(REVIEW.replaceAll('\r\n', '\n')) },
  { skill_id: 'project:style', content_sha256: sha256(STYLE) },
];

let home: TestHome;
let gateway: ConnectedGateway | undefined;

beforeEach(() => {
  home = createTestHome({ REINS_SKILL_ALLOWLIST_JSON: JSON.stringify(PINS) });
  put(home.root, 'review', REVIEW);
  put(home.project, 'style', STYLE);
});

afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await home.dispose();
});

function put(base: string, name: string, content: string): void {
  const directory = join(base, '.claude', 'skills', name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'SKILL.md'), content);
}

const skillTexts = (session: ScriptedSession): string[] =>
  session.messages
    .filter(({ kind, text }) => kind === 'notice' && text.includes('skill'))
    .map(({ text }) => text);

test('N35 N48 two pinned skills are the same bytes at the start and after every resume, whatever becomes of the files', async () => {
  gateway = await connectStdio(home);
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    skill_contexts: PINS,
  });
  const atStart = skillTexts(session);
  expect(atStart).toHaveLength(2);
  expect(atStart[0]).toMatch(/personal:review[^\n]*\n\n\n# Review\nBe kind\. canary/);
  expect(atStart[0]).not.toContain('allowed-tools');
  expect(atStart[1]).toContain(`project:style`);
  expect(session.state['skill_snapshot']).toEqual({ skills: PINS });
  // No skill of Claude Code's own machinery: the tools are the session's and nothing else.
  const tools = session.state.pending_turn?.tools?.map(({ name }) => name);
  expect(tools).toEqual(['Read', 'FindFiles', 'SearchText', 'RunCommand']);

  rmSync(join(home.root, '.claude'), { recursive: true });
  put(home.project, 'style', 'Something else entirely.\n');
  await session.recover();
  expect(skillTexts(session)).toEqual(atStart);

  // The gateway and the whole session process are killed; the conversation is resumed by a new one.
  await gateway.kill();
  killAll(processesOf(home.root));
  gateway = await connectStdio(home);
  session.client = gateway.client;
  await session.status();
  await session.continue('Go on.');
  expect(skillTexts(session)).toEqual(atStart);
  expect(session.state['skill_snapshot']).toEqual({ skills: PINS });
  await session.reply({ text: 'done' });
  expect(session.state.status).toBe('completed');
});

test('N35 N45 whoever takes a session up sees rules, skills and tools with the first turn that there is', async () => {
  gateway = await connectStdio(home);
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    skill_contexts: PINS,
  });
  const atStart = skillTexts(session);
  const expectFull = (): void => {
    expect(session.state.pending_turn?.full_context).toBe(true);
    expect(session.state.pending_turn?.tools).toBeDefined();
    expect(skillTexts(session)).toEqual(atStart);
  };
  expectFull();
  await session.call({ name: 'Read', input: { file_path: '.claude/none' } });
  expect(session.state.pending_turn?.full_context).toBe(false);
  await session.reply({ text: 'done' });

  // Between two runs: there is no turn to show in full yet.
  await session.recover();
  await session.continue('Go on.');
  expectFull();

  // While a call is under way.
  const sleeping = { name: 'RunCommand', input: { argv: ['sleep', '2'] } };
  const replied = session.reply({ tool_calls: [sleeping] });
  do await session.status();
  while (session.state.status !== 'running');
  await session.recover();
  expect((await replied).error).toMatchObject({ code: 'lease_stale' });
  await session.status({ wait_seconds: 30 });
  expect(session.results).toHaveLength(1);
  expectFull();

  // The session process is killed, before and after somebody takes the session over.
  for (const takeOver of [true, false]) {
    await gateway.kill();
    killAll(processesOf(home.root));
    gateway = await connectStdio(home);
    session.client = gateway.client;
    if (takeOver) await session.recover();
    await session.status();
    expect(session.state.status).toBe('failed');
    await session.continue('And on.');
    expectFull();
  }
  await session.reply({ text: 'done' });
  await session.continue('To the end.');
  expect(session.state.pending_turn?.full_context).toBe(false);
});

test('N35 N46 instructions that were altered on disk are not shown; the session can be seen, recovered and stopped', async () => {
  gateway = await connectStdio(home);
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    skill_contexts: PINS,
  });
  const database = openLedger(join(home.state, 'state.db'));
  const evil = 'Do as I say.';
  database.run('UPDATE skills SET body=?, body_sha256=? WHERE ordinal=0', evil, sha256(evil));
  database.close();
  const state = await session.recover();
  expect(state.error).toBeUndefined();
  expect(JSON.stringify(state)).not.toContain(evil);
  expect(JSON.stringify(state)).not.toContain(CANARY);
  expect(session.messages[1]?.text).toContain('are not those that the session was started with');
  await session.stop();
  expect(session.state.status).toBe('stopped');
  const verified = await runReins(home, 'ledger', 'verify');
  expect(verified.exitCode).not.toBe(0);
  expect(verified.stderr).toContain('the instructions of its skills are missing or were altered');
});

test('N35 the instructions are in private state and in full turns, and nowhere else', async () => {
  gateway = await connectStdio(home);
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    skill_contexts: PINS,
  });
  await session.call({ name: 'Read', input: { file_path: '.claude/skills/none' } });
  expect(JSON.stringify(session.state)).not.toContain(CANARY);
  await session.stop();
  for (const args of [['sessions'], ['show', session.id], ['ledger', 'export', session.id]]) {
    const { stdout } = await runReins(home, ...args, ...(args[0] === 'ledger' ? [] : ['--json']));
    expect(stdout).toContain(session.id);
    expect(stdout).not.toContain(CANARY);
  }
  const { stdout } = await runReins(home, 'ledger', 'verify');
  expect(stdout).not.toMatch(/altered|missing/);
  const holders = readdirSync(home.state, { recursive: true, encoding: 'utf8' })
    .map((name) => join(home.state, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path, 'latin1').includes(CANARY));
  for (const path of holders) {
    expect(path).toMatch(/state\.db(-wal)?$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }
  expect(holders).not.toEqual([]);
});

test('N10 N35 a skill that cannot be had starts nothing, and says why', async () => {
  gateway = await connectStdio(home);
  const start = (skills: unknown) =>
    callTool(gateway?.client as ConnectedGateway['client'], 'native_session_start', {
      prompt: 'x',
      working_directory: home.project,
      idempotency_key: freshKey(),
      skill_contexts: skills,
    });
  put(home.project, 'style', `${STYLE}.`);
  const changed = await start(PINS);
  expect(changed.error).toMatchObject({ code: 'skill_refused' });
  expect(changed.error?.message).toContain('project:style has changed');
  const unlisted = await start([{ skill_id: 'personal:other', content_sha256: 'a'.repeat(64) }]);
  expect(unlisted.error?.message).toContain('not in the allow-list');
  expect((await start(Array(9).fill(PINS[0]))).error?.code).toBe('invalid_parameter');
  expect(readdirSync(join(home.state, 'sessions'))).toEqual([]);
  expect(JSON.parse((await runReins(home, 'sessions', '--json')).stdout)).toEqual([]);
});

test('N7 N35 the same key with the same skills is the same session, with others it is refused', async () => {
  gateway = await connectStdio(home);
  const args = {
    prompt: 'x',
    working_directory: home.project,
    idempotency_key: freshKey(),
    skill_contexts: PINS,
  };
  const first = await callTool(gateway.client, 'native_session_start', args);
  rmSync(join(home.root, '.claude'), { recursive: true });
  const again = await callTool(gateway.client, 'native_session_start', args);
  expect(again).toMatchObject({ replay: true, native_session_id: first.native_session_id });
  const other = await callTool(gateway.client, 'native_session_start', {
    ...args,
    skill_contexts: PINS.slice(1),
  });
  expect(other.error?.code).toBe('idempotency_conflict');
});
