import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Confinement } from '../../src/confine/confinement.ts';
import type { Command } from '../../src/process/spawn-owned.ts';
import { killAll } from '../support/test-home.ts';
import { findProcesses } from './support/find-processes.ts';
import { buildProbe, CANARY, createLab, type Lab } from './support/lab.ts';

/** How many values follow each option of bwrap that is in use. */
const VALUES: Readonly<Record<string, number>> = {
  '--unshare-user': 0,
  '--unshare-pid': 0,
  '--unshare-net': 0,
  '--unshare-ipc': 0,
  '--unshare-uts': 0,
  '--unshare-cgroup-try': 0,
  '--disable-userns': 0,
  '--die-with-parent': 0,
  '--new-session': 0,
  '--as-pid-1': 0,
  '--cap-drop': 1,
  '--uid': 1,
  '--gid': 1,
  '--ro-bind': 2,
  '--bind': 2,
  '--size': 1,
  '--tmpfs': 1,
  '--symlink': 2,
  '--ro-bind-data': 2,
  '--proc': 1,
  '--dev': 1,
  '--remount-ro': 1,
  '--chdir': 1,
  '--seccomp': 1,
  '--json-status-fd': 1,
};

/** As root, the user inside is root whether it is said or not. */
const IDLE_AS_ROOT = ['--uid', '--gid'];
/** Behind the system call filter, and behind the keeper around; each has a test of its own. */
const BEHIND_OTHERS = ['--disable-userns', '--die-with-parent'];

type Mutate = (options: string[][]) => string[][];
let mutate: Mutate = (options) => options;
let seen: string[][] = [];
let lab: Lab;
let probe: string;
let port = 0;
let server: Server;
const hostTemporary = ['/tmp', '/var/tmp'].map((path) => join(path, `reins-canary-${process.pid}`));

function toOptions(text: string): string[][] {
  const words = text.split('\0').slice(0, -1);
  const options: string[][] = [];
  while (words.length > 0) {
    const name = words.shift() ?? '';
    const count = VALUES[name];
    if (count === undefined) throw new Error(`${name} is not in the table of this test`);
    options.push([name, ...words.splice(0, count)]);
  }
  return options;
}

function weaken(command: Command): Command {
  const [first, ...rest] = command.inputs ?? [];
  seen = toOptions(String(first));
  const text = mutate(seen)
    .flat()
    .map((word) => `${word}\0`)
    .join('');
  return { ...command, inputs: [text, ...rest] };
}

const weakened = (confinement: Confinement): Confinement => ({
  ...confinement,
  async confineCommand(request) {
    const run = await confinement.confineCommand(request);
    return { ...run, command: weaken(run.command) };
  },
});

beforeAll(async () => {
  lab = await createLab({ weaken: weakened });
  probe = buildProbe();
  server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  mkdirSync(join(lab.home, '.ssh'));
  for (const path of [join(lab.home, '.ssh/id'), join(lab.project, '.env'), ...hostTemporary]) {
    writeFileSync(path, CANARY);
  }
});

afterAll(() => {
  server.close();
  lab.dispose();
  for (const path of hostTemporary) rmSync(path, { force: true });
});

/** Everything that a sandbox is to hold, one line each. Two sandboxes that differ in one of them differ here. */
async function observe(): Promise<string> {
  const script = `
    for name in user pid net ipc uts cgroup mnt; do
      [ "$(readlink /proc/self/ns/$name)" = "$(eval echo \\$HOST_$name)" ] && echo "shares $name"
    done
    pwd; id -u; ls -A /tmp /var/tmp /run /run/reins; ls /etc/shadow; grep ' /proc/' /proc/self/mountinfo | cut -d' ' -f5,6; ls /dev | tr "\\n" " "; stat -f -c "%T %b" /tmp /var/tmp /run /dev/shm; touch /dev/x
    cat "$HOME/.ssh/id" .env /run/reins/gitconfig
    cat /proc/sys/user/max_user_namespaces; grep -E "CapEff|CapBnd|Seccomp:" /proc/self/status
    [ "$(ls -d /proc/[0-9]* | wc -l)" -lt 20 ] && echo few; cat /proc/$$/comm
    echo x >written; echo x >"${lab.outside}/written"; touch /usr/written-by-a-test
    ${probe} sid netlink unix:/nonexistent tcp4:${port} kill:${process.pid} io_uring
  `;
  const env = Object.fromEntries(
    ['user', 'pid', 'net', 'ipc', 'uts', 'cgroup', 'mnt'].map((name) => [
      `HOST_${name}`,
      readlinkSync(`/proc/self/ns/${name}`),
    ]),
  );
  const { text } = await lab
    .run(['sh', '-c', script], { env, timeout_seconds: 20 })
    .catch((error: unknown) => ({ text: `refused: ${String(error)}` }));
  const effects = [
    join(lab.project, 'written'),
    join(lab.outside, 'written'),
    '/usr/written-by-a-test',
  ].filter(existsSync);
  for (const path of effects) rmSync(path);
  return `${text.replace(/after [\d.]+ s/, '')}\n${effects.join('\n')}\n${await survives()}`;
}

/** Whether a process outlives the sandbox's keeper. */
async function survives(): Promise<string> {
  const mark = `32.${process.pid}`;
  const stop = new AbortController();
  const running = lab
    .run(['sleep', mark], { signal: stop.signal })
    .then(({ text }) => text.split(' ')[0])
    .catch(() => 'refused');
  await expect
    .poll(() => findProcesses(mark).length, { timeout: 2_000 })
    .toBeGreaterThan(0)
    .catch(() => {});
  stop.abort();
  await running;
  await new Promise((resolve) => setTimeout(resolve, 100));
  const left = findProcesses(mark).filter(
    (pid) => readFileSync(`/proc/${pid}/comm`, 'latin1').trim() === 'sleep',
  );
  killAll(left);
  return left.length > 0 ? 'survives' : 'ends';
}

test('every argument of the sandbox is needed: without any one of them something changes', async () => {
  const whole = await observe();
  expect(whole).not.toContain('refused');
  expect(whole).not.toContain(CANARY);
  expect(whole).not.toContain('shares');
  expect(whole).toContain('ends');
  expect(await observe()).toBe(whole);
  const options = seen;
  expect(options.length).toBeGreaterThan(20);
  const idle: string[] = [];
  for (const [index, option] of options.entries()) {
    if (BEHIND_OTHERS.includes(option[0] ?? '')) continue;
    if (process.getuid?.() === 0 && IDLE_AS_ROOT.includes(option[0] ?? '')) continue;
    mutate = (all) => all.filter((_option, at) => at !== index);
    if ((await observe()) === whole) idle.push(option.join(' '));
  }
  mutate = (all) => all;
  expect(idle).toEqual([]);
});

test('a root that is bound writable, or directories bound in place of their overlays, are noticed', async () => {
  mutate = (all) => all;
  const whole = await observe();
  mutate = (all) =>
    all.map((option) =>
      option[0] === '--ro-bind' && option[2] === '/' ? ['--bind', '/', '/'] : option,
    );
  expect(await observe()).not.toBe(whole);
  mutate = (all) =>
    all.map((option) =>
      option[0] === '--bind' ? ['--bind', option[2] ?? '', option[2] ?? ''] : option,
    );
  const bound = await observe();
  expect(bound).toContain(CANARY);
  expect(bound).toContain(join(lab.project, 'written'));
  mutate = (all) => all;
});

test('T21 without the filter, bwrap itself still closes user namespaces', async () => {
  const tryNamespace = async (dropped: readonly string[]): Promise<string> => {
    mutate = (all) => all.filter(([name]) => !dropped.includes(name ?? ''));
    const { text } = await lab.run([probe, 'userns']);
    mutate = (all) => all;
    return text;
  };
  expect(await tryNamespace(['--seccomp'])).not.toContain('userns=ok');
  expect(await tryNamespace(['--seccomp', '--disable-userns'])).toContain('userns=ok');
});
