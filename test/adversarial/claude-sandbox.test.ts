import { existsSync, mkdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClaudePlaces } from '../../src/confine/claude-places.ts';
import type { Confinement } from '../../src/confine/confinement.ts';
import { openConfinement } from '../../src/confine/open-confinement.ts';
import { runBounded } from '../../src/process/run-bounded.ts';
import { spawnOwned } from '../../src/process/spawn-owned.ts';
import { makeExecutorPipes } from '../../src/runner/executor-pipes.ts';
import { killAll } from '../support/test-home.ts';
import { findProcesses } from './support/find-processes.ts';
import { buildProbe, CANARY, createLab, type Lab, readProbe } from './support/lab.ts';

let lab: Lab;
let probe: string;
let confinement: Confinement;
let places: ClaudePlaces;
const servers: Server[] = [];

async function listen(path: string | null): Promise<number> {
  const server = createServer((socket) => socket.destroy());
  servers.push(server);
  await new Promise<void>((resolve) => {
    if (path === null) server.listen(0, '127.0.0.1', resolve);
    else server.listen(path, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

beforeAll(async () => {
  lab = await createLab();
  probe = buildProbe();
  confinement = await openConfinement(process.platform);
  const own = join(lab.state, 's');
  places = {
    executable: probe,
    home: join(own, 'home'),
    configDirectory: join(own, 'claude'),
    runtimeDirectory: join(own, 'runtime'),
    modelSocket: join(lab.root, 'm.sock'),
    executorRequests: join(own, 'runtime/requests'),
    executorAnswers: join(own, 'runtime/answers'),
  };
  for (const path of [places.home, places.configDirectory, places.runtimeDirectory]) {
    mkdirSync(path, { recursive: true });
  }
  await makeExecutorPipes([places.executorRequests, places.executorAnswers]);
  await listen(places.modelSocket);
});

afterAll(() => {
  for (const server of servers) server.close();
  lab.dispose();
});

/** Runs the probe in the place of Claude Code. */
async function asClaude(...args: string[]): Promise<string> {
  const confined = confinement.confineClaude(places, { args, env: { PATH: '/usr/bin:/bin' } });
  const run = await runBounded(confined.command, { timeoutMs: 20_000 });
  return run.stdout.head.toString('utf8');
}

test('N42 the socket of its model is reached, and no other socket or port of this computer', async () => {
  const other = join(lab.outside, 'docker.sock');
  await listen(other);
  const port = await listen(null);
  const control = await lab.bare([probe, `unix:${other}`]);
  expect(readProbe(control)).toEqual({ unix: 'ok' });
  expect(readProbe(await lab.bare([probe, `tcp4:${port}`]))).toEqual({ tcp4: 'ok' });

  const inside = confinement.claudePlaces(places);
  expect(readProbe(await asClaude(`unix:${inside.modelSocket}`))).toEqual({ unix: 'ok' });
  expect(readProbe(await asClaude(`unix:${other}`))).toEqual({ unix: 'ENOENT' });
  expect(readProbe(await asClaude(`tcp4:${port}`, 'netlink', 'vsock', 'packet'))).toEqual({
    tcp4: 'ECONNREFUSED',
    netlink: 'EPERM',
    vsock: 'EPERM',
    packet: 'EPERM',
  });
});

test('N40 N42 its own directories are writable, and no other file is there', async () => {
  const secret = join(lab.home, '.ssh/id');
  mkdirSync(join(lab.home, '.ssh'));
  writeFileSync(secret, CANARY);
  const inside = confinement.claudePlaces(places);
  for (const directory of [inside.home, inside.configDirectory, inside.runtimeDirectory]) {
    expect(readProbe(await asClaude(`write:${directory}/x`))).toEqual({ write: 'ok' });
  }
  expect(existsSync(join(places.home, 'x'))).toBe(true);
  for (const path of [
    secret,
    join(lab.project, 'a.txt'),
    lab.state,
    '/etc/passwd',
    '/etc/shadow',
  ]) {
    expect(readProbe(await lab.bare([probe, `read:${path}`]))['read']).not.toBe('ENOENT');
    expect(readProbe(await asClaude(`read:${path}`))).toEqual({ read: 'ENOENT' });
  }
  for (const path of ['/usr/x', '/x', '/reins/x', '/reins/claude-code', join(lab.project, 'x')]) {
    expect(readProbe(await asClaude(`write:${path}`))['write']).toMatch(/EROFS|ENOENT|ETXTBSY/);
  }
  expect(existsSync(join(lab.project, 'x'))).toBe(false);
});

test('N42 no process, descriptor or kernel interface of the host', async () => {
  expect(
    readProbe(
      await asClaude(
        'fds',
        `kill:${process.pid}`,
        'io_uring',
        'userns',
        'ptrace',
        'mount',
        'int80',
      ),
    ),
  ).toMatchObject({
    fds: 'ok',
    kill: 'ESRCH',
    io_uring: 'EPERM',
    userns: 'EPERM',
    ptrace: 'EPERM',
    mount: 'EPERM',
    int80: 'killed',
  });
});

test('N42 every argument of its sandbox is needed: without any one of them something changes', async () => {
  const port = await listen(null);
  const inside = confinement.claudePlaces(places);
  const attempts = [
    ...['sid', 'netlink', 'io_uring', `tcp4:${port}`, `kill:${process.pid}`],
    ...[
      '/etc/localtime',
      '/etc/ld.so.cache',
      '/usr/bin/env',
      '/bin/sh',
      '/lib64/ld-linux-x86-64.so.2',
    ].map((path) => `read:${path}`),
    ...['/sbin/ldconfig', '/lib/x86_64-linux-gnu/libc.so.6', '/proc/self/status', '/dev/null'].map(
      (path) => `read:${path}`,
    ),
    ...[inside.home, inside.configDirectory, inside.runtimeDirectory, '/tmp', '/'].map(
      (path) => `write:${path}/x`,
    ),
    ...[inside.executorRequests, inside.executorAnswers].map((path) => `stat:${path}`),
    ...['user', 'pid', 'net', 'ipc', 'uts', 'cgroup'].map((name) => `link:/proc/self/ns/${name}`),
    ...['sys', 'sysrq-trigger', 'mtrr', 'pressure', 'acpi', 'scsi', 'fs', 'driver'].map(
      (name) => `ro:/proc/${name}`,
    ),
    ...[
      'status:CapBnd',
      'status:CapEff',
      'cwd',
      'tmpsize:/tmp',
      'tmpsize:/dev/shm',
      'ro:/dev',
      `unix:${inside.modelSocket}`,
    ],
  ];
  const hosts = ['user', 'pid', 'net', 'ipc', 'uts', 'cgroup'].map((name) =>
    readlinkSync(`/proc/self/ns/${name}`),
  );
  let drop = -1;
  let count = 0;
  const observe = async (): Promise<string> => {
    const { command } = confinement.confineClaude(places, { args: attempts, env: {} });
    const [first, ...rest] = command.inputs ?? [];
    const options = split(String(first));
    count = options.length;
    const text = options
      .filter((_option, at) => at !== drop)
      .flat()
      .map((word) => `${word}\0`)
      .join('');
    const run = await runBounded({ ...command, inputs: [text, ...rest] }, { timeoutMs: 20_000 });
    const said = run.stdout.head
      .toString('utf8')
      .replaceAll(
        /^link=(.*)$/gm,
        (_line, link: string) => `link=${hosts.includes(link) ? 'shared' : 'own'}`,
      );
    rmSync(join(places.home, 'x'), { force: true });
    return `${run.exitCode} ${said}`;
  };
  const whole = await observe();
  expect(whole).not.toContain('shared');
  const idle: string[] = [];
  for (drop = 0; drop < count; drop += 1) {
    if ((await observe()) !== whole) continue;
    const { command } = confinement.confineClaude(places, { args: [], env: {} });
    idle.push(split(String(command.inputs?.[0]))[drop]?.join(' ') ?? '');
  }
  // Each has a test of its own: the first with commands, the second below.
  const expected = ['--disable-userns', '--die-with-parent', '--json-status-fd 4'];
  const asRoot = process.getuid?.() === 0 ? ['--uid 0', '--gid 0'] : [];
  expect(idle.filter((option) => ![...expected, ...asRoot].includes(option))).toEqual([]);
});

test('N42 it ends with its keeper, and would not without being told to', async () => {
  const keep = async (drop: readonly string[], seconds: string): Promise<number[]> => {
    const { command } = confinement.confineClaude(
      { ...places, executable: '/bin/sleep' },
      { args: [seconds], env: {} },
    );
    const [first, ...rest] = command.inputs ?? [];
    const kept = split(String(first)).filter(([name]) => !drop.includes(name ?? ''));
    const text = kept
      .flat()
      .map((word) => `${word}\0`)
      .join('');
    const child = spawnOwned({ ...command, inputs: [text, ...rest] });
    await expect.poll(() => findProcesses(seconds).length).toBeGreaterThan(1);
    child.kill('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 500));
    return findProcesses(seconds);
  };
  expect(await keep([], `34.${process.pid}`)).toEqual([]);
  const left = await keep(['--die-with-parent'], `35.${process.pid}`);
  killAll(left);
  expect(left).not.toEqual([]);
});

function split(text: string): string[][] {
  const options: string[][] = [];
  for (const word of text.split('\0').slice(0, -1)) {
    if (word.startsWith('--')) options.push([word]);
    else options.at(-1)?.push(word);
  }
  return options;
}
