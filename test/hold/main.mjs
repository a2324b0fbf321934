// Holds one pending turn of a real Claude Code for a long time, with the gateway gone for most of it, then answers.
// Usage: node test/hold/main.mjs [--minutes 80]
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '80' } } });
const minutes = Number(values.minutes);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'reins-hold-')));
const bin = fileURLToPath(new URL('../../bin/reins.js', import.meta.url));
const env = {
  HOME: root,
  PATH: '/usr/bin:/bin',
  REINS_STATE_DIR: join(root, 'state'),
  REINS_LEASE_SECONDS: String(Math.ceil(minutes * 60) + 600),
};

async function connect() {
  const client = new Client({ name: 'reins-hold', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [bin, 'stdio'],
      env,
      stderr: 'ignore',
    }),
  );
  return client;
}

async function call(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent;
}

function expectEqual(actual, expected, what) {
  if (actual === expected) return;
  throw new Error(`${what}: expected ${expected} and found ${actual}`);
}

try {
  writeFileSync(join(root, 'a.txt'), 'still here\n');
  let client = await connect();
  let state = await call(client, 'native_session_start', {
    prompt: 'Wait for it.',
    working_directory: root,
    idempotency_key: 'hold',
    wait_seconds: 50,
  });
  const turn = state.pending_turn.turn_id;
  const recovery = {
    native_session_id: state.native_session_id,
    recovery_token: state.recovery_token,
  };
  await client.close();
  for (let minute = 0; minute < minutes; minute += 1) {
    process.stderr.write(`held for ${minute} of ${minutes} minutes\n`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(1, minutes - minute) * 60_000));
  }
  client = await connect();
  state = await call(client, 'native_session_recover', { ...recovery, recovery_id: 'after' });
  expectEqual(state.pending_turn?.turn_id, turn, 'the pending turn');
  const ids = { native_session_id: state.native_session_id, lease_id: state.lease_id };
  state = await call(client, 'native_session_reply_and_wait', {
    ...ids,
    turn_id: turn,
    reply_id: 'first',
    tool_calls: [{ name: 'Read', input: { file_path: 'a.txt' } }],
  });
  expectEqual(state.pending_turn?.sequence, 2, 'the number of turns');
  expectEqual(state.pending_turn?.messages[0]?.text, '1\tstill here', 'the result');
  state = await call(client, 'native_session_reply_and_wait', {
    ...ids,
    turn_id: state.pending_turn.turn_id,
    reply_id: 'second',
    text: 'Done.',
  });
  expectEqual(state.status, 'completed', 'the status');
  await call(client, 'native_session_stop', { ...ids, request_id: 'stop' });
  await client.close();
  process.stdout.write(
    `A turn was held for ${minutes} minutes and then answered normally.\n1 passed, 0 failed\n`,
  );
} finally {
  rmSync(root, { recursive: true, force: true });
}
