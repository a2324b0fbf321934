import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProbe, createLab, type Lab, readProbe } from './support/lab.ts';

let lab: Lab;
let probe: string;
let connections = 0;
const servers: Server[] = [];

async function listen(where: string | number, host?: string): Promise<number> {
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  servers.push(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if (typeof where === 'string') server.listen(where, resolve);
    else server.listen(where, host, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

beforeAll(async () => {
  lab = await createLab();
  probe = buildProbe();
});

afterAll(() => {
  for (const server of servers) server.close();
  lab.dispose();
});

const confined = async (...what: string[]): Promise<Record<string, string>> =>
  readProbe((await lab.run([probe, ...what])).text);
const bare = async (...what: string[]): Promise<Record<string, string>> =>
  readProbe(await lab.bare([probe, ...what]));

describe('T17 sockets of other programs', () => {
  test.each(['docker.sock', 'agent.sock', 'S.gpg-agent', 'bus', 'X0', 'wayland-0'])(
    'N22 %s is reached without confinement and not with it',
    async (name) => {
      const directory = join(lab.outside, 'sockets');
      mkdirSync(directory, { recursive: true });
      const path = join(directory, name);
      await listen(path);
      const before = connections;
      expect(await bare(`unix:${path}`)).toEqual({ unix: 'ok' });
      await expect.poll(() => connections).toBe(before + 1);
      expect(await confined(`unix:${path}`)).toEqual({ unix: 'EPERM' });
      expect(connections).toBe(before + 1);
    },
  );
});

describe('T18 every other way to a host', () => {
  test('N22 abstract sockets, loopback in both families', async () => {
    const name = `\0reins-${process.pid}`;
    await listen(name);
    const port = await listen(0, '127.0.0.1');
    const port6 = await listen(0, '::1').catch(() => 0);
    const attempts = [
      `abstract:${name.slice(1)}`,
      `tcp4:${port}`,
      ...(port6 ? [`tcp6:${port6}`] : []),
    ];
    const control = await bare(...attempts);
    expect(Object.values(control).every((result) => result === 'ok')).toBe(true);
    const before = connections;
    const held = await confined(...attempts);
    expect(held['abstract']).toBe('EPERM');
    expect(held['tcp4']).toBe('ECONNREFUSED');
    if (port6) expect(held['tcp6']).toMatch(/ECONNREFUSED|EADDRNOTAVAIL|ENETUNREACH/);
    expect(connections).toBe(before);
  });

  test('N22 socket families that lead out of the network', async () => {
    const families = ['netlink', 'vsock', 'packet', 'alg'];
    expect(await bare('netlink')).toEqual({ netlink: 'ok' });
    expect(await confined(...families)).toEqual(
      Object.fromEntries(families.map((name) => [name, 'EPERM'])),
    );
  });

  test('N22 a server and a client of one command talk over loopback all the same', async () => {
    const script = `const s=require('net').createServer(c=>c.end('hello')).listen(0,()=>require('net').connect(s.address().port).on('data',d=>{console.log(String(d));s.close()}))`;
    expect((await lab.run([process.execPath, '-e', script])).text).toContain('hello');
  });
});

describe('T19 T20 T21 T22 T23 the kernel', () => {
  const EXPECTED: Record<string, string> = {
    dgram_pair: 'EPERM',
    io_uring: 'EPERM',
    int80: 'killed',
    x32: 'killed',
    userns: 'EPERM',
    clone_userns: 'EPERM',
    clone3: 'ENOSYS',
    setns: 'EPERM',
    mount: 'EPERM',
    fsopen: 'EPERM',
    open_tree: 'EPERM',
    chroot: 'EPERM',
    ptrace: 'EPERM',
    vm_readv: 'EPERM',
    keyctl: 'EPERM',
    bpf: 'EPERM',
    perf: 'EPERM',
    tiocsti: 'EPERM',
    tiocsti_high: 'EPERM',
    tioclinux: 'EPERM',
  };

  test('N22 each call comes to something else without confinement', async () => {
    const control = await bare(...Object.keys(EXPECTED));
    const same = Object.keys(EXPECTED).filter((name) => control[name] === EXPECTED[name]);
    // Without privileges the kernel refuses some of these by itself; as root it refuses none.
    if (process.getuid?.() === 0) expect(same).toEqual([]);
    expect(['io_uring', 'userns', 'ptrace', 'int80'].filter((name) => same.includes(name))).toEqual(
      [],
    );
  });

  test('N22 and is refused or fatal with it', async () => {
    expect(await confined(...Object.keys(EXPECTED))).toEqual(EXPECTED);
  });

  test('N22 no setting of the kernel can be opened for writing, as root either', async () => {
    // Opened and never written to: where this fails, it fails on the whole machine.
    const script = `find /proc -path '/proc/[0-9]*' -prune -o -path '/proc/*self*' -prune -o -type f -print | while read -r path; do ( : >>"$path" ) 2>/dev/null && echo "open $path"; done; echo looked`;
    const { text } = await lab.run(['sh', '-c', script]);
    expect(text).toContain('looked');
    expect(text).not.toContain('open /proc');
  });

  test('N22 no signal and no look reaches a process outside', async () => {
    expect(await bare(`kill:${process.pid}`)).toEqual({ kill: 'ok' });
    expect(await confined(`kill:${process.pid}`)).toEqual({ kill: 'ESRCH' });
    const listed = await lab.run(['sh', '-c', 'ls -d /proc/[0-9]* | wc -l']);
    expect(Number(/stdout\n(\d+)/.exec(listed.text)?.[1])).toBeLessThan(8);
  });
});
