import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { mintToolUseId } from '../../../src/base/ids.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import { listOpenActions, type NewAction, prepareAction } from '../../../src/ledger/actions.ts';
import { readBlob } from '../../../src/ledger/blobs.ts';
import { listEvents } from '../../../src/ledger/events.ts';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import { editTool } from '../../../src/tools/edit.ts';
import { defineObservingTool } from '../../../src/tools/tool.ts';
import { toolsFor } from '../../../src/tools/tool-set.ts';
import { type Call, openToolSession, required, type ToolSession } from './support/tool-session.ts';

let session: ToolSession;

beforeEach(() => {
  session = openToolSession();
});

afterEach(() => {
  session.dispose();
});

function put(name: string, content: string): string {
  const path = join(session.project, name);
  writeFileSync(path, content);
  return path;
}

/** An edit that would show if it were made twice. */
const grow = (path: string): Call => ({
  tool: 'Edit',
  input: { file_path: path, old_string: 'a', new_string: 'aa', replace_all: true },
});

const authorizeOne = (call: Call): NewAction => required(session.authorize(call)[0]);

test('N43 N23 an authorised action runs once, and its receipt is in the ledger when the caller gets it', async () => {
  const path = put('file', 'a');
  const action = authorizeOne(grow(path));
  expect(session.action(action).state).toBe('authorized');
  const receipt = await session.run(action);
  const other = openLedger(join(session.state, 'state.db'));
  try {
    expect(listOpenActions(other, session.id)).toEqual([]);
  } finally {
    other.close();
  }
  expect(session.action(action)).toMatchObject({ state: 'applied', receipt, path });
  expect(readFileSync(path, 'utf8')).toBe('aa');
});

test('N43 the order of argument keys does not matter', async () => {
  const path = put('file', 'a');
  const action = authorizeOne(grow(path));
  const input = Object.fromEntries(Object.entries(action.input).reverse());
  await session.executor.execute({ tool: 'Edit', input, toolUseId: action.toolUseId });
  expect(readFileSync(path, 'utf8')).toBe('aa');
});

test('N43 F34 a stray call is refused and recorded, and spends no authorisation', async () => {
  const path = put('file', 'a');
  const action = authorizeOne(grow(path));
  const { tool, input, toolUseId } = action;
  const places = { ...session, project: session.project };
  const foreign = openToolSession({ places });
  const [foreignAction] = foreign.authorize(grow(path));
  const strays = [
    { tool, input, toolUseId: mintToolUseId() },
    { tool, input, toolUseId: undefined },
    { tool, input, toolUseId: 'toolu_01ABCDEF' },
    { tool, input, toolUseId: required(foreignAction).toolUseId },
    { tool: 'Write', input, toolUseId },
    { tool: 'edit', input, toolUseId },
    { tool, input: { ...input, new_string: 'b' }, toolUseId },
    { tool, input: { ...input, replace_all: false }, toolUseId },
    { tool, input: { ...input, extra: 1 }, toolUseId },
    { tool, input: {}, toolUseId },
  ];
  for (const [position, stray] of strays.entries()) {
    const receipt = await session.executor.execute(stray);
    expect([position, receipt.code, receipt.is_error]).toEqual([position, 'not_authorized', true]);
    expect(session.eventsOf('stray_call_refused')).toHaveLength(position + 1);
  }
  expect(readFileSync(path, 'utf8')).toBe('a');
  expect(session.eventsOf('stray_call_refused').at(-2)).toMatchObject({
    tool,
    tool_use_id: toolUseId,
    input_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  foreign.database.close();
  expect((await session.run(action)).code).toBeNull();
  expect(readFileSync(path, 'utf8')).toBe('aa');
});

test('N43 F4 concurrency: the same call again gets the stored receipt and has no second effect', async () => {
  const path = put('file', 'a');
  const action = authorizeOne(grow(path));
  const first = await session.run(action);
  expect(await session.run(action)).toEqual(first);
  expect(await session.run(action, session.createExecutor())).toEqual(first);
  expect(readFileSync(path, 'utf8')).toBe('aa');
  expect(session.eventsOf('action_applied')).toHaveLength(1);
});

test('N43 F34 F37 the same call twice at once has one effect and one receipt', async () => {
  const path = put('file', 'a');
  const action = authorizeOne(grow(path));
  const receipts = await Promise.all(Array.from({ length: 5 }, () => session.run(action)));
  expect(new Set(receipts.map((receipt) => JSON.stringify(receipt))).size).toBe(1);
  expect(receipts[0]?.code).toBeNull();
  expect(readFileSync(path, 'utf8')).toBe('aa');
  expect(session.eventsOf('action_applied')).toHaveLength(1);
});

test('N43 N23 a look is taken once: again, at once, and after what it looked at has changed', async () => {
  let looks = 0;
  const looking = observing('Look', async () => {
    looks += 1;
    return { text: `look ${looks}`, truncated: false };
  });
  const executor = session.createExecutor([looking]);
  const action = authorizeOne({ tool: 'Look', input: {} });
  const receipts = await Promise.all([1, 2, 3].map(() => session.run(action, executor)));
  receipts.push(await session.run(action, executor));
  receipts.push(await session.run(action, session.createExecutor([looking])));
  expect(receipts.map(({ text }) => text)).toEqual(Array(5).fill('look 1'));
  expect(looks).toBe(1);
});

test('N43 a refusal is stored as well, and repeated although the call would succeed now', async () => {
  const path = join(session.project, 'late');
  const action = authorizeOne(grow(path));
  const refused = await session.run(action);
  expect(refused.code).toBe('path_not_found');
  writeFileSync(path, 'a');
  expect(await session.run(action)).toEqual(refused);
  expect(readFileSync(path, 'utf8')).toBe('a');
  expect(session.action(action).state).toBe('failed');
});

test('N20 F31 two edits of one file in one reply both happen, in order', async () => {
  const path = put('file', 'one\n');
  const actions = session.authorize(
    { tool: 'Edit', input: { file_path: path, old_string: 'one', new_string: 'two' } },
    { tool: 'Edit', input: { file_path: path, old_string: 'two', new_string: 'three' } },
  );
  for (const action of actions) expect((await session.run(action)).code).toBeNull();
  expect(readFileSync(path, 'utf8')).toBe('three\n');
  const [first, second] = actions.map(session.action);
  expect(second?.beforeSha256).toBe(first?.afterSha256);
});

test('N20 F4 concurrency: of ten parallel edits of one file none is lost', async () => {
  const lines = Array.from({ length: 10 }, (_, at) => `line ${at}\n`).join('');
  const path = put('file', lines);
  const actions = session.authorize(
    ...Array.from({ length: 10 }, (_, at) => ({
      tool: 'Edit',
      input: { file_path: path, old_string: `line ${at}\n`, new_string: `changed ${at}\n` },
    })),
  );
  const receipts = await Promise.all(actions.map((action) => session.run(action)));
  expect(receipts.map(({ code }) => code)).toEqual(Array(10).fill(null));
  expect(readFileSync(path, 'utf8')).toBe(lines.replaceAll('line', 'changed'));
});

test('N20 a change that waits for its turn does not happen when the run has ended meanwhile', async () => {
  const path = put('file', 'a');
  const [slow, waiting] = session.authorize(grow(path), grow(path));
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const executor = session.createExecutor([beforeChanging(editTool, () => held)]);
  const first = session.run(required(slow), executor);
  const second = session.run(required(waiting), executor);
  session.database.run(
    `UPDATE actions SET state='refused', receipt='{"code":"not_authorized","is_error":true,"text":"","truncated":false}' WHERE action_id=?`,
    required(waiting).id,
  );
  release();
  expect((await first).code).toBeNull();
  expect((await second).code).toBe('not_authorized');
  expect(readFileSync(path, 'utf8')).toBe('aa');
});

/** The same tool, with something that happens after it has prepared its change and before the change is made. */
function beforeChanging(tool: typeof editTool, meanwhile: () => Promise<void>): typeof editTool {
  if (tool.kind !== 'change') throw new Error('the tool changes nothing');
  return {
    ...tool,
    async prepare(input, context) {
      const change = await tool.prepare(input, context);
      await meanwhile();
      return change;
    },
  };
}

test('N20 a change is authorised, prepared with both contents kept, applied with its receipt, in that order', async () => {
  const path = put('file', 'a\n');
  const [action] = session.authorize(grow(path));
  await session.run(required(action));
  const record = session.action(required(action));
  expect(record).toMatchObject({
    state: 'applied',
    path,
    beforeSha256: sha256('a\n'),
    afterSha256: sha256('aa\n'),
  });
  expect(Buffer.from(required(readBlob(session.database, sha256('a\n')))).toString()).toBe('a\n');
  expect(Buffer.from(required(readBlob(session.database, sha256('aa\n')))).toString()).toBe('aa\n');
  const kinds = listEvents(session.database, session.id).map(({ kind }) => kind);
  expect(kinds.slice(-3)).toEqual(['reply_accepted', 'action_prepared', 'action_applied']);
  expect(session.eventsOf('action_applied').at(-1)).toMatchObject({
    action_id: record.id,
    after_sha256: sha256('aa\n'),
    receipt_sha256: sha256(required(record.receipt).text),
  });
});

test.each(['prepared', 'unknown'] as const)(
  'N21 a call whose action is %s is neither carried out again nor given an end',
  async (state) => {
    const path = put('file', 'a');
    const action = authorizeOne(grow(path));
    const change = {
      path,
      beforeSha256: sha256('a'),
      beforeMode: 0o644,
      afterSha256: sha256('aa'),
    };
    prepareAction(session.database, session.action(action), change, new Date().toISOString());
    session.database.run('UPDATE actions SET state=? WHERE action_id=?', state, action.id);
    const receipt = await session.run(action, session.createExecutor());
    expect(receipt.code).toBe('not_authorized');
    expect(session.action(action)).toMatchObject({ state, receipt: null });
    expect(readFileSync(path, 'utf8')).toBe('a');
  },
);

test('N20 F58 when the ledger cannot keep what is about to happen, nothing happens', async () => {
  const path = put('file', 'a');
  const action = authorizeOne(grow(path));
  session.database.execute(
    "CREATE TRIGGER full BEFORE INSERT ON blobs BEGIN SELECT RAISE(ABORT, 'disk full'); END",
  );
  expect((await session.run(action)).code).toBe('storage_failed');
  expect(readFileSync(path, 'utf8')).toBe('a');
  expect(session.action(action).state).toBe('failed');
});

test('N20 N21 F58 when the ledger cannot keep that it happened, it is not said to have failed', async () => {
  const path = put('file', 'a');
  const action = authorizeOne(grow(path));
  session.database.execute(
    "CREATE TRIGGER full BEFORE UPDATE ON actions WHEN NEW.state='applied' BEGIN SELECT RAISE(ABORT, 'disk full'); END",
  );
  const outcome = await session.run(action).then(
    (receipt) => receipt.code,
    () => 'thrown',
  );
  expect(outcome).not.toBeNull();
  expect(readFileSync(path, 'utf8')).toBe('aa');
  session.database.execute('DROP TRIGGER full');
  expect(session.action(action)).toMatchObject({ state: 'prepared', receipt: null });
  await session.run(action);
  expect(session.action(action)).toMatchObject({ state: 'prepared', receipt: null });
  expect(readFileSync(path, 'utf8')).toBe('aa');
});

function observing(name: string, execute: () => Promise<{ text: string; truncated: boolean }>) {
  return defineObservingTool({ name, description: '', input: z.strictObject({}), execute });
}

test('N18 a receipt is cut at its limit, at a character, and says so', async () => {
  const executor = session.createExecutor([
    observing('Flood', async () => ({ text: '한'.repeat(40_000), truncated: false })),
  ]);
  const receipt = await session.run(authorizeOne({ tool: 'Flood', input: {} }), executor);
  expect(Buffer.byteLength(receipt.text)).toBeLessThanOrEqual(48 * 1024);
  expect(Buffer.byteLength(receipt.text)).toBeGreaterThan(47 * 1024);
  expect([receipt.truncated, receipt.is_error, receipt.text.includes('\ufffd')]).toEqual([
    true,
    false,
    false,
  ]);
});

test('N46 an error that no tool expects tells nothing of its insides', async () => {
  const executor = session.createExecutor([
    observing('Broken', async () => {
      throw new Error('secret in /private/place');
    }),
  ]);
  const action = authorizeOne({ tool: 'Broken', input: {} });
  const receipt = await session.run(action, executor);
  expect([receipt.code, receipt.is_error]).toEqual(['internal', true]);
  expect(receipt.text).not.toMatch(/secret|private/);
  expect(session.action(action).state).toBe('failed');
});

test('N11 an action whose tool the session lacks does not run', async () => {
  const path = put('file', 'a');
  const action = authorizeOne(grow(path));
  const receipt = await session.run(action, session.createExecutor(toolsFor('read_only')));
  expect([receipt.code, readFileSync(path, 'utf8')]).toEqual(['not_authorized', 'a']);
});

test('N11 N19 a session that only reads changes nothing, even when asked by an authorised action', async () => {
  const reading = openToolSession({ profile: 'read_only' });
  try {
    const path = join(reading.project, 'file');
    writeFileSync(path, 'a');
    const [action] = reading.authorize(grow(path));
    const executor = reading.createExecutor(toolsFor('direct_write'));
    expect((await reading.run(required(action), executor)).code).toBe('outside_write_root');
    expect(readFileSync(path, 'utf8')).toBe('a');
  } finally {
    reading.dispose();
  }
});
