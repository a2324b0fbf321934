import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { runReins } from '../support/run-reins.ts';
import { freshKey, ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';
import { findVictims } from './support/crash-session.ts';
import { expectConsistent } from './support/oracle.ts';

/** System calls are made to fail by strace. Where it is missing, these tests say so instead of passing. */
const HAS_STRACE = (() => {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

let home: TestHome;
let gateway: ConnectedGateway;
let session: ScriptedSession;
let tracer: ChildProcess | undefined;

const EDIT = { name: 'Edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'two' } };

beforeEach(async () => {
  home = createTestHome();
  writeFileSync(join(home.project, 'a.txt'), 'one\n');
  gateway = await connectStdio(home);
  session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    capability_profile: 'direct_write',
  });
});

afterEach(async () => {
  await heal();
  await session.stop();
  await gateway.close();
  await home.dispose();
});

/** Makes a kind of system call of the runner's fail from now on, on one path alone when one is given. */
async function injure(injection: string, path?: string): Promise<void> {
  const { runner } = findVictims(home, gateway.pid);
  const call = injection.split(':')[0];
  const filter = path === undefined ? [] : ['-P', path];
  tracer = spawn(
    'strace',
    ['-f', '-p', String(runner), ...filter, '-e', `trace=${call}`, '-e', `inject=${injection}`],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await new Promise<void>((resolve) => {
    tracer?.stderr?.on('data', (text) => {
      if (String(text).includes('attached')) resolve();
    });
  });
}

async function heal(): Promise<void> {
  if (tracer === undefined) return;
  const ended = new Promise((resolve) => tracer?.once('exit', resolve));
  tracer.kill('SIGINT');
  await ended;
  tracer = undefined;
}

const content = (): string => readFileSync(join(home.project, 'a.txt'), 'utf8');

test.runIf(HAS_STRACE)('a rename that fails leaves the old file, says so and goes on', async () => {
  for (const injection of ['rename:error=EIO', 'rename:error=ENOSPC', 'rename:error=EROFS']) {
    await injure(injection);
    const [failed] = await session.call(EDIT);
    await heal();
    expect(failed?.is_error, injection).toBe(true);
    expect(failed?.text, injection).toMatch(/^write_failed: /);
    expect(content()).toBe('one\n');
    expectConsistent(
      home,
      session.id,
      new Map([[join(home.project, 'a.txt'), new Set(['one\n'])]]),
    );
  }
  const [applied] = await session.call(EDIT);
  expect(applied?.is_error).toBe(false);
  expect(content()).toBe('two\n');
});

test.runIf(HAS_STRACE)('a directory that cannot be synced is not called done', async () => {
  await injure('fsync:error=EIO', home.project);
  const [unsure] = await session.call(EDIT);
  await heal();
  expect(unsure?.is_error).toBe(true);
  expect(unsure?.text).toMatch(/write_unconfirmed/);
  expect(content()).toBe('two\n');
  await session.stop();
  await session.continue('What happened?');
  expectConsistent(home, session.id, new Map([[join(home.project, 'a.txt'), new Set(['two\n'])]]));
});

test.runIf(HAS_STRACE)(
  'a ledger that cannot be synced acknowledges nothing, and the same reply works afterwards',
  async () => {
    const reply = { tool_calls: [EDIT] };
    const key = { reply_id: freshKey(), turn_id: session.turnId };
    await injure('fsync:error=EIO', join(home.state, 'state.db-wal'));
    const refused = await session.reply(reply, key);
    await heal();
    expect(refused.error?.code).toBe('storage_failed');
    expect(content()).toBe('one\n');
    const accepted = await session.reply(reply, key);
    expect(accepted.replay).toBe(false);
    expect(session.results[0]?.is_error).toBe(false);
    expect(content()).toBe('two\n');
    expect((await runReins(home, 'ledger', 'verify')).exitCode).toBe(0);
  },
);

test('F58 strace is there to make system calls fail, or this machine has not tested it', () => {
  if (!HAS_STRACE) process.stderr.write('strace is missing: storage faults were not tested here\n');
  expect(HAS_STRACE || process.platform === 'darwin' || process.env['CI'] !== 'true').toBe(true);
});

test('a state directory that is gone or that cannot be written is a clear error, not a lost answer', async () => {
  const other = createTestHome();
  writeFileSync(join(other.root, 'state'), 'a file in the way');
  const refused = await runReins(other, 'sessions');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain('state_directory_invalid');
  chmodSync(other.root, 0o700);
  await other.dispose();
});
