import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { endGroup } from '../../../src/process/end-group.ts';
import { endLeftover } from '../../../src/process/end-leftover.ts';
import { identifyProcess, isAlive } from '../../../src/process/process-identity.ts';
import { runCommand } from '../../../src/process/run-command.ts';
import { spawnOwned } from '../../../src/process/spawn-owned.ts';

const started: number[] = [];

afterEach(() => {
  for (const pid of started.splice(0)) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended, as it should.
    }
  }
});

function startShell(script: string) {
  const child = spawnOwned({
    file: '/bin/sh',
    args: ['-c', script],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
  });
  if (child.pid !== undefined) started.push(child.pid);
  return child;
}

test('a process is recognised while it lives and not afterwards', async () => {
  const child = startShell('sleep 60');
  const identity = identifyProcess(child.pid ?? 0);
  expect(identity && isAlive(identity)).toBe(true);
  await endGroup(child);
  expect(identity && isAlive(identity)).toBe(false);
  expect(identifyProcess(2 ** 22 + 1)).toBeUndefined();
});

test('N45 a pid with another start time is not ours: it is neither alive nor signalled', async () => {
  const child = startShell('sleep 60');
  const real = identifyProcess(child.pid ?? 0);
  const impostor = { pid: child.pid ?? 0, birth: `${real?.birth}0` };
  expect(isAlive(impostor)).toBe(false);
  await endLeftover(impostor);
  expect(real && isAlive(real)).toBe(true);
  await endGroup(child);
});

test('a group ends with its children, also when they ignore the polite signal', async () => {
  const child = startShell('trap "" TERM; (trap "" TERM; sleep 60) & echo $!; wait; sleep 60');
  const grandchild = await new Promise<number>((resolve) => {
    child.stdout.once('data', (text) => resolve(Number(String(text))));
  });
  await endGroup(child);
  await expect.poll(() => identifyProcess(grandchild)).toBeUndefined();
});

test.runIf(process.platform === 'linux')(
  'a leftover that is no child of ours is ended by its identity',
  async () => {
    const outer = spawn('/bin/sh', ['-c', 'setsid sleep 60 & echo $!'], {
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const pid = await new Promise<number>((resolve) => {
      outer.stdout.once('data', (text) => resolve(Number(String(text))));
    });
    started.push(pid);
    // It leads a group of its own from the moment at which it has become what it was started as.
    await expect.poll(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()).toBe('sleep');
    const identity = identifyProcess(pid);
    if (identity !== undefined) await endLeftover(identity);
    expect(identifyProcess(pid)).toBeUndefined();
  },
);

test('a command is bounded in time and output, and its environment is what it was given', async () => {
  const run = (script: string, limits = { timeoutMs: 5_000, maxBytes: 1_000 }) =>
    runCommand({ file: '/bin/sh', args: ['-c', script], cwd: '/', env: { A: '1' } }, limits);
  const printed = await run('echo $A; /usr/bin/env | /usr/bin/grep -c HOME');
  expect(printed).toMatchObject({ ended: 'exit' });
  expect(printed.stdout.toString()).toBe('1\n0\n');
  expect((await run('sleep 60', { timeoutMs: 100, maxBytes: 10 })).ended).toBe('timeout');
  expect((await run('yes')).ended).toBe('output_limit');
  const absent = { file: '/nonexistent', args: [], cwd: '/', env: {} };
  expect((await runCommand(absent, { timeoutMs: 1_000, maxBytes: 10 })).ended).toBe('not_started');
});
