import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { callTool, freshKey, ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway;

afterEach(async () => {
  await gateway.close();
  await home.dispose();
});

test('N9 F38 a call answers within 50 s with the state as it is, whatever runs behind it', async () => {
  home = createTestHome();
  const claude = join(home.root, 'claude');
  writeFileSync(
    claude,
    '#!/bin/sh\n[ "$1" = --version ] && { echo "2.1.247 (Claude Code)"; exit; }\nexec sleep 300\n',
  );
  chmodSync(claude, 0o755);
  home = { ...home, env: { ...home.env, CLAUDE_BIN: claude } };
  gateway = await connectStdio(home);
  const begun = performance.now();
  const state = await callTool(gateway.client, 'native_session_start', {
    prompt: 'x',
    working_directory: home.project,
    idempotency_key: freshKey(),
    wait_seconds: 50,
  });
  expect(performance.now() - begun).toBeLessThan(50_000);
  expect(state.status).toBe('starting');
  const stopped = await callTool(gateway.client, 'native_session_stop', {
    native_session_id: state.native_session_id,
    lease_id: state.lease_id,
    request_id: freshKey(),
  });
  expect(stopped.status).toBe('stopped');
});

test('N18 F35 the largest results reach the client whole and are never swapped for a preview', async () => {
  home = createTestHome();
  gateway = await connectStdio(home);
  const lines = Array.from({ length: 3_000 }, (_, i) => `${i} ${'ä'.repeat(20)}`);
  writeFileSync(join(home.project, 'big.txt'), `${lines.join('\n')}\n`);
  const session = await ScriptedSession.start(gateway.client, { working_directory: home.project });
  const results = await session.call(
    { name: 'Read', input: { file_path: 'big.txt' } },
    { name: 'SearchText', input: { query: 'ä', limit: 500 } },
    { name: 'Read', input: { file_path: 'big.txt', offset: 2_990 } },
  );
  for (const { text, is_error: isError } of results) {
    expect(isError).toBe(false);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(48 * 1024);
    expect(text).not.toContain('persisted');
  }
  expect(results.map(({ truncated }) => truncated)).toEqual([true, true, false]);
  const shown = results[0]?.text.split('\n') ?? [];
  expect(shown[0]).toBe(`1\t${lines[0]}`);
  expect(shown.at(-2)).toBe(`${shown.length - 1}\t${lines[shown.length - 2]}`);
  await session.stop();
});
