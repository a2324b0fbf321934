// The Codex CLI, with a scripted model on loopback, drives a direct_write session through `reins stdio`.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCodex } from './support/codex.mjs';
import { runPart } from './support/part.mjs';
import { TOOL_NAMES, UNSETTLED } from './support/reins.mjs';

const BEFORE = 'größe = 1\r\nfarbe = "blau"\r\nende';
const AFTER = 'größe = 1\r\nfarbe = "grün"\r\nende';

await runPart('codex', async ({ home, say }) => {
  writeFileSync(join(home.project, 'farben.toml'), BEFORE);
  writeFileSync(join(home.project, 'other.txt'), 'untouched\n');

  const exchanges = await runCodex({
    ...{ home, say },
    command: 'stdio',
    env: { REINS_STATE_DIR: home.state },
    toolNames: TOOL_NAMES,
    isFailure: ({ error }) => error !== undefined,
    task: 'Have the colour made green.',
    playModel: (callTool) => playModel(callTool, home.project),
  });
  const called = exchanges.map(({ tool }) => tool.replace('native_session_', ''));
  say(`the model called ${called.join(', ')}`);

  assert.equal(readFileSync(join(home.project, 'farben.toml'), 'utf8'), AFTER);
  assert.equal(readFileSync(join(home.project, 'other.txt'), 'utf8'), 'untouched\n');
  assert.deepEqual(readdirSync(home.project).sort(), ['farben.toml', 'other.txt']);
  say('the file on disk changed exactly as edited');
});

function* playModel(callTool, project) {
  function* call(tool, args) {
    const state = yield* callTool(tool, args);
    assert.equal(state.error, undefined, JSON.stringify(state.error));
    return state;
  }

  function* settle(state) {
    let current = state;
    while (UNSETTLED.includes(current.status)) {
      current = yield* call('native_session_status', { ...handle, wait_seconds: 40 });
    }
    return current;
  }

  function* reply(turn, answer) {
    const ids = { turn_id: turn.turn_id, reply_id: `reply-${turn.sequence}` };
    return yield* settle(
      yield* call('native_session_reply_and_wait', { ...handle, ...ids, ...answer }),
    );
  }

  const started = yield* call('native_session_start', {
    prompt: 'Make the colour green.',
    working_directory: project,
    idempotency_key: 'start-1',
    capability_profile: 'direct_write',
  });
  const handle = { native_session_id: started.native_session_id, lease_id: started.lease_id };
  const first = (yield* settle(started)).pending_turn;
  assert.equal(first.full_context, true);
  assert.ok(first.messages.some(({ kind, text }) => kind === 'task' && text.includes('green')));

  const read = yield* reply(first, {
    tool_calls: [{ name: 'Read', input: { file_path: 'farben.toml' } }],
  });
  assert.match(resultOf(read).text, /2\tfarbe = "blau"/);

  const edit = { file_path: 'farben.toml', old_string: '"blau"', new_string: '"grün"' };
  const edited = yield* reply(read.pending_turn, { tool_calls: [{ name: 'Edit', input: edit }] });
  assert.equal(resultOf(edited).is_error, false);

  const finished = yield* reply(edited.pending_turn, { text: 'The colour is green now.' });
  assert.equal(finished.status, 'completed');
  assert.equal(finished.last_result.text, 'The colour is green now.');

  const status = yield* call('native_session_status', handle);
  assert.equal(status.status, 'completed');
  const stopped = yield* settle(
    yield* call('native_session_stop', { ...handle, request_id: 'stop-1' }),
  );
  assert.equal(stopped.status, 'stopped');
  return 'The session is done.';
}

function resultOf(state) {
  const results = state.pending_turn.messages.filter(({ kind }) => kind === 'tool_result');
  assert.equal(results.length, 1);
  return results[0];
}
