import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { REINS_BIN } from '../support/gateway.ts';
import { callTool, freshKey } from '../support/scripted-client.ts';
import { createTestHome, processesOf, type TestHome } from '../support/test-home.ts';

let home: TestHome;
beforeEach(() => {
  home = createTestHome();
});
afterEach(() => home.dispose());

/** Computers on which nothing can be confined, made with a sandbox around the whole of Reins. */
const WITHOUT: Readonly<Record<string, readonly string[]>> = {
  'bubblewrap that is not installed': ['--ro-bind', '/dev/null', '/usr/bin/bwrap'],
  'user namespaces that are forbidden': ['--unshare-user', '--disable-userns'],
  'a bubblewrap that is another program': ['--ro-bind', '/bin/true', '/usr/bin/bwrap'],
};

const around = (options: readonly string[]): string[] => [
  ...['--bind', '/', '/', '--dev-bind', '/dev', '/dev', '--proc', '/proc', '--die-with-parent'],
  ...options,
  '--',
  process.execPath,
  REINS_BIN,
];

describe.each(Object.entries(WITHOUT))('T15 with %s', (_name, options) => {
  test('B1 the doctor says what is missing and how to get it, and fails', () => {
    const run = spawnSync('/usr/bin/bwrap', [...around(options), 'doctor', '--json'], {
      env: home.env,
      encoding: 'utf8',
    });
    expect(run.status).toBe(1);
    const report = JSON.parse(run.stdout);
    expect(report.ok).toBe(false);
    const check = report.checks.find(({ id }: { id: string }) => id === 'confinement');
    expect(check).toMatchObject({ status: 'missing', detail: 'confinement_unavailable' });
    expect(check.remedy).toMatch(/type "sudo|update it|in a container/);
  });

  test('N42 no session starts, and no Claude Code runs unconfined', async () => {
    const client = new Client({ name: 'reins-test', version: '1' });
    const transport = new StdioClientTransport({
      command: '/usr/bin/bwrap',
      args: [...around(options), 'stdio'],
      env: home.env,
      stderr: 'ignore',
    });
    await client.connect(transport);
    try {
      const state = await callTool(client, 'native_session_start', {
        prompt: 'x',
        working_directory: home.project,
        idempotency_key: freshKey(),
      });
      expect(state.status).toBe('failed');
      expect(state.launch_error?.code).toBe('confinement_unavailable');
      expect(state.launch_error?.message).toMatch(/type "sudo|update it|in a container/);
      expect(state['network_boundary']).toMatchObject({
        detail: expect.stringContaining('No process'),
      });
      expect(
        existsSync(
          join(home.state, 'sessions', String(state.native_session_id), 'claude', '.claude.json'),
        ),
      ).toBe(false);
    } finally {
      await client.close();
    }
    await expect.poll(() => processesOf(home.root), { timeout: 10_000 }).toEqual([]);
  });
});

test('B1 a doctor that is interrupted, or has no home directory, leaves nothing behind', async () => {
  const left = (): string =>
    spawnSync('/usr/bin/find', [home.root, '-name', '*doctor*'], { encoding: 'utf8' }).stdout;
  const child = spawn(process.execPath, [REINS_BIN, 'doctor'], { env: home.env, stdio: 'ignore' });
  await expect.poll(left, { timeout: 20_000, interval: 5 }).toContain('.reins-doctor-');
  child.kill('SIGINT');
  await new Promise((resolve) => child.once('exit', resolve));
  expect(left()).toBe('');
  const run = spawnSync(process.execPath, [REINS_BIN, 'doctor', '--json'], {
    env: { ...home.env, HOME: join(home.root, 'missing') },
    encoding: 'utf8',
  });
  expect([run.status, run.stderr]).toEqual([0, '']);
  expect(left()).toBe('');
});

test('B1 where everything is there, the doctor passes, tries each promise with its control, and leaves nothing', () => {
  const run = spawnSync(process.execPath, [REINS_BIN, 'doctor', '--json'], {
    env: home.env,
    encoding: 'utf8',
  });
  const report = JSON.parse(run.stdout);
  expect(report.checks.filter(({ status }: { status: string }) => status !== 'ok')).toEqual([]);
  expect([run.status, report.ok]).toEqual([0, true]);
  expect(report.checks.length).toBeGreaterThan(20);
  expect(processesOf(home.root)).toEqual([]);
  const left = spawnSync('/usr/bin/find', [home.root, '-name', '*doctor*'], { encoding: 'utf8' });
  expect(left.stdout).toBe('');
});
