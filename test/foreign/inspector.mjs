// The MCP Inspector's command line, one process per request, against both front doors.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installNode22, installPinned } from './support/install-pinned.mjs';
import { runPart } from './support/part.mjs';
import { REINS_BIN, startServe, TOOL_NAMES, UNSETTLED } from './support/reins.mjs';
import { runProgram } from './support/run-program.mjs';

const INSPECTOR = { name: '@modelcontextprotocol/inspector', version: '2.12.0' };
/** With `initialize` as up to 2025-11-25, and without it as from 2026-07-28. */
const ERAS = ['legacy', 'modern'];

/** What the Inspector exits with, from its own documentation. */
const EXIT = { authRequired: 3, toolRefused: 5 };

await runPart('inspector', async ({ home, say }) => {
  const node = installNode22(say);
  const inspector = installPinned(INSPECTOR.name, INSPECTOR.version, say);
  const launcher = join(inspector, 'clients', 'launcher', 'build', 'index.js');
  writeFileSync(join(home.project, 'notes.txt'), 'alpha\nbeta\ngamma\n');

  let invocations = 0;
  /** One process of the Inspector: its exit code, the result that it printed and the code of its error. */
  const inspect = async (front, method, options = []) => {
    invocations += 1;
    const args = ['--cli', '--quiet', '--format', 'json', ...front.options, '--method', method];
    const { code, stdout, stderr } = await runProgram(
      node,
      [launcher, ...args, ...options, ...front.target],
      { env: home.env, cwd: home.root },
    );
    // stderr also has warnings, such as Node's own.
    const envelope = stderr.split('\n').find((line) => line.startsWith('{"error":'));
    return {
      code,
      result: stdout === '' ? undefined : JSON.parse(stdout).result,
      error: envelope === undefined ? undefined : JSON.parse(envelope).error,
      stderr,
    };
  };

  const serve = await startServe(home);
  try {
    const fronts = {
      stdio: {
        options: ['-e', `REINS_STATE_DIR=${home.state}`],
        target: [process.execPath, REINS_BIN, 'stdio'],
      },
      serve: toHttpFront(serve.url, ['--header', `Authorization: Bearer ${serve.token}`]),
    };
    for (const [name, front] of Object.entries(fronts)) {
      for (const era of ERAS) await expectSixTools(front, era, inspect);
      say(`${name}: lists exactly the six tools, in both protocol eras`);
      await expectRefusals(front, inspect);
      say(`${name}: refuses an unknown tool and an unknown parameter`);
    }
    for (const [from, to] of [
      ['stdio', 'serve'],
      ['serve', 'stdio'],
    ]) {
      const calls = await runSession(home.project, fronts[from], fronts[to], from, inspect);
      say(`${from}: a session over separate processes: ${calls.join(', ')} (status through ${to})`);
    }
    await expectServerRefusals(serve);
    for (const headers of [[], ['--header', 'Authorization: Bearer wrong']]) {
      const { code, error } = await inspect(toHttpFront(serve.url, headers), 'tools/list');
      assert.deepEqual([code, error?.code], [EXIT.authRequired, 'auth_required']);
    }
    say('serve: refuses unknown tools and methods itself, and callers without its token');
  } finally {
    await serve.close();
  }
  say(`${invocations} processes of the Inspector`);
});

function toHttpFront(url, headers) {
  return {
    options: ['--server-url', url, '--transport', 'http', '--stored-auth-only', ...headers],
    target: [],
  };
}

/** `--strict` makes the Inspector fail on schemas that clients are known to choke on. */
async function expectSixTools(front, era, inspect) {
  const { code, result, stderr } = await inspect(front, 'tools/list', [
    '--strict',
    ...['--protocol-era', era],
  ]);
  assert.equal(code, 0, stderr);
  assert.deepEqual(result.tools.map(({ name }) => name).sort(), TOOL_NAMES);
  for (const { name, inputSchema, outputSchema } of result.tools) {
    assert.equal(inputSchema.type, 'object', name);
    assert.equal(outputSchema.type, 'object', name);
  }
}

/** The Inspector looks a tool up in the list before it calls it, so an unknown one never reaches the server. */
async function expectRefusals(front, inspect) {
  const unknownTool = await inspect(front, 'tools/call', toCall('native_session_delete', {}));
  assert.deepEqual(
    [unknownTool.code, unknownTool.error?.code],
    [EXIT.toolRefused, 'tool_not_found'],
  );
  const args = { native_session_id: 'none', lease_id: 'none', model: 'other' };
  const unknownParameter = await inspect(
    front,
    'tools/call',
    toCall('native_session_status', args),
  );
  assert.equal(unknownParameter.code, EXIT.toolRefused);
  assert.equal(unknownParameter.result.isError, true);
  assert.equal(unknownParameter.result.structuredContent.error.code, 'unknown_parameter');
}

/** N1: what the Inspector cannot send, as bare JSON-RPC. */
async function expectServerRefusals(serve) {
  for (const [method, params, code] of [
    ['tools/call', { name: 'native_session_delete', arguments: {} }, -32_602],
    ['resources/list', {}, -32_601],
    ['sampling/createMessage', {}, -32_601],
  ]) {
    const response = await fetch(serve.url, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${serve.token}`,
        'content-type': 'application/json',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const text = await response.text();
    const json =
      text
        .split('\n')
        .find((line) => line.startsWith('data: {'))
        ?.slice(6) ?? text;
    assert.equal(JSON.parse(json).error?.code, code, text);
  }
}

/** start, Read, final text and stop, each in a process of its own; the status comes through the other front door. */
async function runSession(project, front, otherFront, key, inspect) {
  const calls = [];
  const call = async (tool, args, through = front) => {
    calls.push(tool);
    const { code, result, error, stderr } = await inspect(
      through,
      'tools/call',
      toCall(`native_session_${tool}`, args),
    );
    assert.equal(code, 0, `${tool}: ${error?.message ?? stderr} ${JSON.stringify(result)}`);
    return result.structuredContent;
  };
  const settle = async (state) => {
    let current = state;
    while (UNSETTLED.includes(current.status)) {
      current = await call('status', { ...handle, wait_seconds: 40 });
    }
    return current;
  };

  const startArgs = {
    prompt: 'Read the notes.',
    working_directory: project,
    idempotency_key: `start-${key}`,
  };
  const started = await call('start', startArgs);
  const handle = { native_session_id: started.native_session_id, lease_id: started.lease_id };
  const first = await settle(started);
  assert.equal(first.status, 'waiting_for_gpt');

  const again = await call('start', startArgs);
  assert.equal(again.replay, true);
  assert.equal(again.native_session_id, started.native_session_id);

  const read = await settle(
    await call('reply_and_wait', {
      ...handle,
      turn_id: first.pending_turn.turn_id,
      reply_id: 'reply-1',
      tool_calls: [{ name: 'Read', input: { file_path: 'notes.txt' } }],
    }),
  );
  const results = read.pending_turn.messages.filter(({ kind }) => kind === 'tool_result');
  assert.equal(results.length, 1);
  assert.match(results[0].text, /2\tbeta/);

  const elsewhere = await call('status', handle, otherFront);
  assert.equal(elsewhere.pending_turn.turn_id, read.pending_turn.turn_id);

  const finished = await settle(
    await call('reply_and_wait', {
      ...handle,
      turn_id: read.pending_turn.turn_id,
      reply_id: 'reply-2',
      text: 'Three Greek letters.',
    }),
  );
  assert.equal(finished.status, 'completed');
  assert.equal(finished.last_result.text, 'Three Greek letters.');

  const stopped = await settle(await call('stop', { ...handle, request_id: 'stop-1' }));
  assert.equal(stopped.status, 'stopped');
  return calls;
}

function toCall(tool, args) {
  return ['--tool-name', tool, '--tool-args-json', JSON.stringify(args)];
}
