import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { callTool, freshKey } from '../support/scripted-client.ts';
import { createTestHome, processesOf, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway;

afterEach(async () => {
  await gateway.close();
  await home.dispose();
});

test.runIf(process.platform === 'linux')(
  'N9 a runner that hangs while a call waits for it does not hold the call beyond 50 s',
  async () => {
    home = createTestHome();
    // A Claude Code that never asks keeps the call waiting until its runner is stopped.
    const claude = join(home.root, 'claude');
    writeFileSync(
      claude,
      '#!/bin/sh\n[ "$1" = --version ] && { echo "2.1.247 (Claude Code)"; exit; }\nexec sleep 300\n',
    );
    chmodSync(claude, 0o755);
    home = { ...home, env: { ...home.env, CLAUDE_BIN: claude } };
    gateway = await connectStdio(home);
    const started = await callTool(gateway.client, 'native_session_start', {
      prompt: 'x',
      working_directory: home.project,
      idempotency_key: freshKey(),
      wait_seconds: 0,
    });
    const runner = processesOf(home.root).find(
      (pid) =>
        pid !== gateway.pid && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('runner.js'),
    );
    if (runner === undefined) throw new Error('there is no runner');
    const begun = performance.now();
    const waiting = callTool(gateway.client, 'native_session_status', {
      native_session_id: started.native_session_id,
      lease_id: started.lease_id,
      wait_seconds: 50,
    });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    process.kill(runner, 'SIGSTOP');
    const state = await waiting;
    expect(performance.now() - begun).toBeLessThan(50_000);
    expect([state.status, state.error?.code]).toEqual(
      state.error === undefined ? [expect.any(String), undefined] : [null, 'runner_unreachable'],
    );
    process.kill(runner, 'SIGCONT');
  },
);
