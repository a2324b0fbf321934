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

const named = (name: string) => ({ marker: { variable: 'M', name }, self: process.pid });
const freshMarker = (): string => randomBytes(15).toString('base64url');

test('every process of this user is listed with the identity that it is recognised by', () => {
  const self = listProcesses().find(({ pid }) => pid === process.pid);
  expect({ pid: self?.pid, birth: self?.birth }).toEqual(identifyProcess(process.pid));
  expect(self?.parentPid).toBe(process.ppid);
});

test('a line of /proc/PID/stat is read whatever the process is called', () => {
  const line = (name: string, state = 'S', threads = 1) =>
    `7 (${name}) ${state} 3 7 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 ${threads} 0 4242 0`;
  for (const name of ['sh', 'a b', ') S 9 9 9', '((', '']) {
    expect(parseLinuxStat(line(name))).toEqual({
      hasEnded: false,
      parentPid: 3,
      sessionId: 5,
      startTicks: '4242',
    });
  }
  expect(parseLinuxStat(line('sh', 'Z'))?.hasEnded).toBe(true);
  expect(parseLinuxStat(line('sh', 'Z', 0))?.hasEnded).toBe(true);
  // Its first thread has ended and another goes on.
  expect(parseLinuxStat(line('sh', 'Z', 2))?.hasEnded).toBe(false);
  expect(parseLinuxStat('')).toBeUndefined();
  expect(parseLinuxStat('7 (sh) Z')).toBeUndefined();
});

describe.runIf(process.platform === 'linux')('a family', () => {
  test('D15 is found by marker, ancestry and session, and nobody else is', async () => {
    const marker = freshMarker();
    const marked = start('sleep 100 & env -i sh -c "sleep 101 & wait" & wait', { M: marker });
    const stranger = start('sleep 102', { M: freshMarker() });
    const family = createFamily(named(marker));
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

  test('D15 a text that contains the marker is no marker, and a name that it begins with is one before a dot', async () => {
    const marker = freshMarker();
    const inText = start('sleep 100', { NOTE: `M=${marker} was printed` });
    const longer = start('sleep 100', { M: `${marker}x` });
    const inner = start('sleep 100', { M: `outer:${marker}.inner` });
    await sleep(200);
    const pids = createFamily(named(marker))
      .look()
      .map(({ pid }) => pid);
    expect(pids).toContain(inner);
    expect(pids).not.toContain(inText);
    expect(pids).not.toContain(longer);
  });

  test('D15 a member that another has found is recognised by its birth, not by its pid alone', () => {
    const marker = freshMarker();
    const pid = start('sleep 100', {});
    const identity = identifyProcess(pid);
    if (identity === undefined) throw new Error('not running');
    const known = createFamily({ ...named(marker), known: [identity] });
    expect(known.look().map((member) => member.pid)).toContain(pid);
    const reused = { pid, birth: `${identity.birth}0` };
    expect(createFamily({ ...named(marker), known: [reused] }).look()).toEqual([]);
  });

  test('D15 nobody who has started the one who looks is ever a member, nor is a child of the first process as such', () => {
    const parent = identifyProcess(process.ppid);
    if (parent === undefined) throw new Error('the parent is gone');
    const family = createFamily({ ...named(freshMarker()), known: [parent], parents: () => [1] });
    expect(family.look()).toEqual([]);
  });

  test('D15 stops what ignores the polite signal, within the grace that it is given', async () => {
    const marker = freshMarker();
    start('trap "" TERM HUP INT; while :; do sleep 1; done', { M: marker });
    const family = createFamily(named(marker));
    await sleep(200);
    const startedAt = performance.now();
    expect(await endFamily(family, 300)).toEqual([]);
    expect(performance.now() - startedAt).toBeGreaterThan(250);
  });
});
