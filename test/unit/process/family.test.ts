import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { endFamily } from '../../../src/process/end-family.ts';
import { parseLinuxStat } from '../../../src/process/linux-stat.ts';
import { listProcesses } from '../../../src/process/list-processes.ts';
import { createFamily } from '../../../src/process/process-family.ts';
import { identifyProcess } from '../../../src/process/process-identity.ts';

const started: number[] = [];

afterEach(() => {
  for (const pid of started.splice(0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // ESRCH: the test has ended it, which is what it was about.
    }
  }
});

function start(script: string, env: Record<string, string>): number {
  const child = spawn('/bin/sh', ['-c', script], {
    env: { PATH: '/usr/bin:/bin', ...env },
    detached: true,
    stdio: 'ignore',
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('not started');
  started.push(pid);
  return pid;
}

const freshMarker = (): string => randomBytes(15).toString('base64url');

test('every process of this user is listed with the identity that it is recognised by', () => {
  const self = listProcesses().find(({ pid }) => pid === process.pid);
  expect({ pid: self?.pid, birth: self?.birth }).toEqual(identifyProcess(process.pid));
  expect(self?.parentPid).toBe(process.ppid);
});

test('a line of /proc/PID/stat is read whatever the process is called', () => {
  const line = (name: string) => `7 (${name}) S 3 7 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0`;
  for (const name of ['sh', 'a b', ') S 9 9 9', '((', '']) {
    expect(parseLinuxStat(line(name))).toEqual({
      hasEnded: false,
      parentPid: 3,
      sessionId: 5,
      startTicks: '4242',
    });
  }
  expect(parseLinuxStat('')).toBeUndefined();
  expect(parseLinuxStat('7 (sh) Z')).toBeUndefined();
});

describe.runIf(process.platform === 'linux')('a family', () => {
  test('D15 is found by marker, ancestry and session, and nobody else is', async () => {
    const marker = freshMarker();
    const marked = start('sleep 100 & env -i sh -c "sleep 101 & wait" & wait', { M: marker });
    const stranger = start('sleep 102', { M: freshMarker() });
    const family = createFamily({ marker, self: process.pid });
    await sleep(300);
    const members = family.look();
    expect(members.map(({ pid }) => pid)).toContain(marked);
    expect(members.map(({ pid }) => pid)).not.toContain(stranger);
    // The shell, a sleeper, the shell with an empty environment and its sleeper.
    expect(members).toHaveLength(4);
    // Its marked members gone, the one without environment and parent is known by what it was before.
    process.kill(marked, 'SIGKILL');
    await sleep(100);
    expect(family.look()).toHaveLength(3);
    expect(await endFamily(family, 500)).toEqual([]);
    expect(family.look()).toEqual([]);
    expect(identifyProcess(stranger)).toBeDefined();
  });

  test('D15 a member that another has found is recognised by its birth, not by its pid alone', () => {
    const marker = freshMarker();
    const pid = start('sleep 100', {});
    const identity = identifyProcess(pid);
    if (identity === undefined) throw new Error('not running');
    const known = createFamily({ marker, self: process.pid, known: [identity] });
    expect(known.look().map((member) => member.pid)).toContain(pid);
    const reused = { pid, birth: `${identity.birth}0` };
    expect(createFamily({ marker, self: process.pid, known: [reused] }).look()).toEqual([]);
  });

  test('D15 stops what ignores the polite signal, within the grace that it is given', async () => {
    const marker = freshMarker();
    start('trap "" TERM HUP INT; while :; do sleep 1; done', { M: marker });
    const family = createFamily({ marker, self: process.pid });
    await sleep(200);
    const startedAt = performance.now();
    expect(await endFamily(family, 300)).toEqual([]);
    expect(performance.now() - startedAt).toBeGreaterThan(250);
  });
});
