// The Codex CLI, with a scripted model on loopback, drives a direct_write session through `reins stdio`.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPinned } from './support/install-pinned.mjs';
import { runPart } from './support/part.mjs';
import { REINS_BIN, TOOL_NAMES, UNSETTLED } from './support/reins.mjs';
import { startResponsesApi } from './support/responses-api.mjs';
import { runProgram } from './support/run-program.mjs';

const CODEX = { name: '@openai/codex', version: '0.171.0' };
const NAMESPACE = 'mcp__reins';

const BEFORE = 'größe = 1\r\nfarbe = "blau"\r\nende';
const AFTER = 'größe = 1\r\nfarbe = "grün"\r\nende';

await runPart('codex', async ({ home, say }) => {
  const codex = installPinned(CODEX.name, CODEX.version, say);
  writeFileSync(join(home.project, 'farben.toml'), BEFORE);
  writeFileSync(join(home.project, 'other.txt'), 'untouched\n');
  // Codex works somewhere else, so that nothing but Reins has to do with the project.
  const elsewhere = join(home.root, 'elsewhere');
  mkdirSync(elsewhere);

  /** What the model called and was told, in order. */
  const exchanges = [];
  const api = await startResponsesApi((request) => playModel(request, home.project, exchanges));
  try {
    const { code, stdout, stderr } = await runCodex(codex, home, elsewhere, api.baseUrl);
    api.expectNoFailure();
    assert.equal(code, 0, stderr);
    const called = exchanges.map(({ tool }) => tool.replace('native_session_', ''));
    say(`the model called ${called.join(', ')}`);
    expectThroughCodex(stdout, exchanges, api.requests);
    say(`Codex carried out ${exchanges.length} MCP calls and nothing else`);
  } finally {
    await api.close();
  }

  assert.equal(readFileSync(join(home.project, 'farben.toml'), 'utf8'), AFTER);
  assert.equal(readFileSync(join(home.project, 'other.txt'), 'utf8'), 'untouched\n');
  assert.deepEqual(readdirSync(home.project).sort(), ['farben.toml', 'other.txt']);
  say('the file on disk changed exactly as edited');
});

/** The model. It knows nothing but its tools and what their outputs say. */
function* playModel(request, project, exchanges) {
  const offered = request.tools.filter(
    ({ type, name }) => type === 'namespace' && name === NAMESPACE,
  );
  assert.deepEqual(offered[0]?.tools.map(({ name }) => name).sort(), TOOL_NAMES);

  function* call(tool, args) {
    const output = yield { namespace: NAMESPACE, name: tool, arguments: args };
    assert.match(output, /\{/, output);
    const state = JSON.parse(output.slice(output.indexOf('{')));
    exchanges.push({ tool, args, state });
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

function runCodex(codex, home, cwd, baseUrl) {
  const codexHome = join(home.root, 'codex');
  mkdirSync(codexHome);
  writeFileSync(join(codexHome, 'config.toml'), configuration(home, baseUrl));
  return runProgram(
    process.execPath,
    [
      join(codex, 'bin', 'codex.js'),
      ...['exec', '--json', '--strict-config', '--skip-git-repo-check', '-C', cwd],
      'Have the colour made green.',
    ],
    { env: { ...home.env, CODEX_HOME: codexHome }, cwd, timeoutMs: 240_000 },
  );
}

/** No tool of Codex's own that could change a file, and nothing that would ask for the outside. */
function configuration(home, baseUrl) {
  const off = [
    'apps',
    'enable_request_compression',
    'goals',
    'multi_agent',
    'plugins',
    'remote_plugin',
    'shell_snapshot',
    'shell_tool',
    'unified_exec',
  ];
  return `
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "read-only"
web_search = "disabled"
check_for_update_on_startup = false
analytics.enabled = false
feedback.enabled = false
${off.map((feature) => `features.${feature} = false`).join('\n')}

[model_providers.scripted]
name = "Scripted"
base_url = ${JSON.stringify(baseUrl)}
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0

[mcp_servers.reins]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([REINS_BIN, 'stdio'])}
env = { REINS_STATE_DIR = ${JSON.stringify(home.state)} }
startup_timeout_sec = 30
tool_timeout_sec = 60
# Reply and stop are marked as destructive; where nobody can be asked, Codex refuses such tools without this.
default_tools_approval_mode = "approve"
`;
}

/** Codex's own record of its run names the same calls with the same results as the model saw, and no other act. */
function expectThroughCodex(stdout, exchanges, requests) {
  for (const { url, headers } of requests) {
    assert.equal(url, '/v1/responses');
    assert.match(headers['user-agent'], new RegExp(`^codex_exec/${CODEX.version} `));
  }
  assert.equal(requests.length, exchanges.length + 1);
  const items = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === 'item.completed')
    .map(({ item }) => item);
  const calls = items.filter(({ type }) => type === 'mcp_tool_call');
  assert.deepEqual(
    calls.map(({ server, tool, arguments: args, status, result }) => ({
      ...{ server, tool, args, status },
      state: result?.structured_content,
    })),
    exchanges.map((exchange) => ({ server: 'reins', status: 'completed', ...exchange })),
  );
  // It says once, as an "error", that it has no figures about a model of this name.
  const others = items.filter(({ type }) => type !== 'mcp_tool_call' && type !== 'error');
  assert.deepEqual(
    others.map(({ type, text }) => `${type}: ${text}`),
    ['agent_message: The session is done.'],
  );
}
