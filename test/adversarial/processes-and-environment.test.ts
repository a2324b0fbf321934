import { spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { boundsProcesses } from '../../src/confine/linux/keeper.ts';
import { findProcesses } from './support/find-processes.ts';
import { buildProbe, CANARY, createLab, type Lab, readProbe } from './support/lab.ts';

let lab: Lab;
beforeEach(async () => {
  lab = await createLab();
});
afterEach(() => lab.dispose());

describe('T24 T25 nothing of whoever starts a command is handed to it', () => {
  const inherited = readdirSync('/proc/self/fd').filter((fd) => {
    try {
      const flags = /flags:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
      return (Number.parseInt(flags ?? '0', 8) & 0o2000000) === 0;
    } catch {
      return false;
    }
  });

  test('N22 descriptors of a private directory and of a socket do not arrive', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const client = connect(typeof address === 'object' && address !== null ? address.port : 0);
    await new Promise((resolve) => client.once('connect', resolve));
    openSync(lab.outside, 'r');
    const { text } = await lab.run([buildProbe(), 'fds']);
    const arrived = [...text.matchAll(/^fd=(\d+)$/gm)].map((match) => match[1]);
    expect(readProbe(text)['fds']).toBe('ok');
    // What this test's own process was given by whoever started it, a runner would have closed.
    expect(arrived.filter((fd) => !inherited.includes(fd ?? ''))).toEqual([]);
    client.destroy();
    server.close();
  });

  test('N22 descriptors that a runner inherits are closed before it starts anything', async () => {
    const control = await lab.bare(['bash', '-c', `exec 50<"${lab.outside}"; ls /proc/self/fd`]);
    expect(control.split('\n')).toContain('50');
    const child = spawn(
      '/bin/bash',
      [
        '-c',
        `exec 50<"${lab.outside}"; exec "$0" "$@"`,
        process.execPath,
        join(import.meta.dirname, '../../dist/runner.js'),
      ],
      {
        env: { HOME: lab.home, PATH: '/usr/bin:/bin' },
        stdio: ['pipe', 'ignore', 'ignore'],
      },
    );
    try {
      const targets = (): string[] => {
        try {
          return readdirSync(`/proc/${child.pid}/fd`).map((fd) =>
            readlinkSync(`/proc/${child.pid}/fd/${fd}`),
          );
        } catch {
          return [];
        }
      };
      const isRunning = (): boolean => targets().some((target) => target.includes('eventpoll'));
      await expect
        .poll(() => targets().includes(lab.outside), { timeout: 10_000, interval: 1 })
        .toBe(true);
      await expect
        .poll(() => isRunning() && !targets().includes(lab.outside), { timeout: 10_000 })
        .toBe(true);
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('N22 no environment and no argument list in there has more than the command was given', async () => {
    process.env['REINS_CANARY'] = CANARY;
    try {
      const { text } = await lab.run([
        'sh',
        '-c',
        'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr "\\0" "\\n"',
      ]);
      expect(text).toContain('GIT_TERMINAL_PROMPT=0');
      expect(text).not.toContain(CANARY);
      expect(text).not.toContain(lab.state);
      expect(text).not.toMatch(/--ro-bind|--seccomp|lowerdir/);
    } finally {
      delete process.env['REINS_CANARY'];
    }
  });
});

describe('T26 variables', () => {
  test.each([
    ...['LD_PRELOAD', 'LD_AUDIT', 'LD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES', 'NODE_OPTIONS'],
    ...['BASH_ENV', 'ENV', 'GIT_SSH_COMMAND', 'GIT_CONFIG_GLOBAL', 'RIPGREP_CONFIG_PATH', 'PATH'],
    ...['PYTHONSTARTUP', 'PYTHONPATH', 'PERL5OPT', 'RUBYOPT', 'JAVA_TOOL_OPTIONS', 'HOME', 'IFS'],
    ...['npm_config_userconfig', 'RUSTC_WRAPPER', 'PROMPT_COMMAND', 'GCONV_PATH', 'LESSOPEN'],
  ])('N22 %s is refused by name', async (name) => {
    await expect(lab.run(['true'], { env: { [name]: 'x' } })).rejects.toThrow(name);
  });

  test('N22 an ordinary one arrives, an odd name or value does not', async () => {
    expect(
      (await lab.run(['sh', '-c', 'echo $MODE'], { env: { MODE: 'test it' } })).text,
    ).toContain('test it');
    const odd: Record<string, string>[] = [
      { 'A=B': 'x' },
      { '': 'x' },
      { A: 'x\0y' },
      { A: 'x'.repeat(40_000) },
    ];
    for (const env of odd) {
      await expect(lab.run(['true'], { env })).rejects.toThrow();
    }
  });

  test('N22 generated configuration: Git and npm get who and where, and no secret', async () => {
    writeFileSync(
      join(lab.home, '.gitconfig'),
      `[user]\n\tname = A \\"quoted\\" \\\\ name\n\temail = a@b.c\n[credential]\n\thelper = !echo ${CANARY}\n[alias]\n\tx = !echo ${CANARY}\n`,
    );
    writeFileSync(
      join(lab.home, '.npmrc'),
      `registry=https://user:${CANARY}@npm.example/r/\n//npm.example/r/:_authToken=${CANARY}\nsave-exact=true\nscript-shell=${CANARY}\n`,
    );
    const { text } = await lab.run([
      'sh',
      '-c',
      'git config --list; git config user.name; cat "$NPM_CONFIG_USERCONFIG"',
    ]);
    expect(text).toContain('user.email=a@b.c');
    expect(text).toContain('A "quoted" \\ name');
    expect(text).toContain('registry=https://npm.example/r/');
    expect(text).toContain('save-exact=true');
    expect(text).not.toContain(CANARY);
  });
});

describe('T27 T28 programs and arguments', () => {
  test('N22 helpers of the gateway are not taken from the project or the search path', async () => {
    const evil = join(lab.home, 'evil');
    mkdirSync(evil);
    for (const name of [
      'git',
      'rg',
      'bwrap',
      'unshare',
      'mount',
      'mkdir',
      'cp',
      'mkfifo',
      'mknod',
      'find',
      'sh',
    ]) {
      for (const directory of [evil, lab.project]) {
        writeFileSync(join(directory, name), `#!/bin/bash\necho ${CANARY} >"${lab.outside}/ran"\n`);
        chmodSync(join(directory, name), 0o755);
      }
    }
    const path = process.env['PATH'];
    process.env['PATH'] = `${lab.project}:${evil}:${path}`;
    try {
      expect((await lab.run(['cat', 'a.txt'])).text).toContain('ordinary');
    } finally {
      process.env['PATH'] = path;
    }
    expect(readdirSync(lab.outside)).toEqual(['b.txt']);
  });

  test('N22 every argument arrives as it is', async () => {
    const words = [
      '',
      ' ',
      '--output=/out',
      ';$(x)',
      '`id`',
      '"',
      "'",
      '\\',
      '*',
      '\n',
      '\u{1f600}',
      '-n',
      '--',
      '%s',
    ];
    const script = 'console.log(JSON.stringify(process.argv.slice(1)))';
    const { text } = await lab.run([process.execPath, '-e', script, '--', ...words]);
    expect(JSON.parse(text.split('--- stdout\n')[1] ?? '')).toEqual(words);
  });

  test('N22 what cannot be passed is refused before anything starts', async () => {
    for (const argv of [
      [],
      ['x\0y'],
      ['true', 'x'.repeat(200_000)],
      [''],
      ['\ud800'],
      new Array(5_000).fill('true'),
    ]) {
      await expect(lab.run(argv)).rejects.toThrow();
    }
  });

  test.each([
    [['sudo', 'id'], 'sudo'],
    [['/usr/bin/sudo', 'id'], 'sudo'],
    [['rm', '-rf', '.'], 'rm'],
    [['env', 'A=1', 'rm', 'x'], 'rm'],
    [['timeout', '5', 'mv', 'a', 'b'], 'mv'],
    [['busybox', 'rm', 'x'], 'rm'],
    [['xargs', 'rm'], 'rm'],
    [['find', '.', '-delete'], '-delete'],
    [['find', '.', '-exec', 'cat', '{}', ';'], '-exec'],
    [['nice', '-n', '5', 'find', '.', '-execdir', 'x', ';'], '-execdir'],
    [['rg', '--pre', 'x', 'y'], '--pre'],
    [['rg', '--pre=x', 'y'], '--pre'],
    [['shutdown', 'now'], 'shutdown'],
    [['systemctl', 'stop', 'x'], 'systemctl'],
    [['claude', '-p', 'x'], 'claude'],
    [['codex', 'exec'], 'codex'],
    [['ollama', 'run', 'x'], 'ollama'],
  ])('N22 %j is refused with the reason and the alternative', async (argv, word) => {
    await expect(lab.run(argv)).rejects.toMatchObject({ code: 'command_refused' });
    await expect(lab.run(argv)).rejects.toThrow(word);
  });

  test('N22 what only looks like one of them runs', async () => {
    for (const argv of [
      ['echo', 'rm'],
      ['find', '.', '-name', '-delete'.slice(1)],
      ['git', '--version'],
    ]) {
      expect((await lab.run(argv)).text).toContain('Exit code 0');
    }
  });
});

describe('T30 nothing survives', () => {
  const MARK = () => `31.${process.pid}${Math.floor(Math.random() * 1e6)}`;
  const script = (mark: string): string =>
    `setsid sleep ${mark} & (sleep ${mark} &) ; nohup sleep ${mark} >/dev/null 2>&1 & trap "" TERM HUP; cp /bin/sleep /tmp/s; /lib64/ld-linux-x86-64.so.2 /tmp/s ${mark} & echo started`;

  test('N22 children that detach end with the command', async () => {
    const mark = MARK();
    const { text } = await lab.run(['sh', '-c', `${script(mark)}; sleep 0.3`]);
    expect(text).toContain('started');
    await expect.poll(() => findProcesses(mark)).toEqual([]);
  });

  test('N22 and with its time limit', async () => {
    const mark = MARK();
    const running = lab.run(['sh', '-c', `${script(mark)}; sleep ${mark}`], { timeout_seconds: 1 });
    await expect.poll(() => findProcesses(mark).length, { timeout: 5_000 }).toBeGreaterThan(3);
    const result = await running;
    expect(result.failure).toBe('command_timed_out');
    expect(result.text).toContain('started');
    await expect.poll(() => findProcesses(mark)).toEqual([]);
  });

  test('N22 and when the session stops', async () => {
    const mark = MARK();
    const stopping = new AbortController();
    const running = lab.run(['sh', '-c', `${script(mark)}; sleep ${mark}`], {
      signal: stopping.signal,
    });
    await expect.poll(() => findProcesses(mark).length, { timeout: 5_000 }).toBeGreaterThan(3);
    stopping.abort();
    expect((await running).failure).toBe('command_stopped');
    await expect.poll(() => findProcesses(mark)).toEqual([]);
  });

  test('N22 a program that starts 3,000 others does not get them, and nothing of it stays', async () => {
    const script =
      'i=0; while [ $i -lt 3000 ]; do sleep 33 & i=$((i+1)); done 2>&1; echo all of them';
    const result = await lab.run(['bash', '-c', script], { timeout_seconds: 20 });
    expect(result.text).not.toMatch(/^all of them$/m);
    expect(findProcesses('33')).toEqual([]);
    expect((await lab.run(['cat', 'a.txt'])).text).toContain('ordinary');
  });

  // Where only this process watches, a real bomb would be one for the whole machine.
  test.runIf(boundsProcesses() || process.getuid?.() !== 0)(
    'N22 a fork bomb is capped and ended with its time limit',
    async () => {
      const result = await lab.run(['sh', '-c', 'bomb() { bomb | bomb & }; bomb; sleep 20'], {
        timeout_seconds: 2,
      });
      expect(result.text).toMatch(/Cannot fork|Resource temporarily unavailable/i);
      expect((await lab.run(['cat', 'a.txt'])).text).toContain('ordinary');
    },
  );

  test('F65 200 MB of output are counted, the two ends kept, the gap announced', async () => {
    const result = await lab.run([
      'sh',
      '-c',
      'echo first; head -c 200000000 /dev/zero | tr "\\0" a; echo; echo last >&2; echo last',
    ]);
    expect(result.text).toContain('stdout 200000012 bytes');
    expect(result.text).toMatch(/first\n/);
    expect(result.text).toMatch(/last/);
    expect(result.text).toMatch(/\[\d+ bytes left out here; the stream has 200000012;/);
    expect(result.truncated).toBe(true);
    expect(Buffer.byteLength(result.text)).toBeLessThan(48 * 1024);
  });

  test('F65 a question on stdin gets no answer and blocks nothing', async () => {
    expect((await lab.run(['sh', '-c', 'read -r line; echo "got:$line"'])).text).toContain('got:');
  });

  test('N22 T40 exit code, signal and streams are told apart; odd output is made visible', async () => {
    const result = await lab.run([
      'sh',
      '-c',
      'printf "a\\033[31m\\r\\n\\377\\342\\200\\256"; printf err >&2; exit 7',
    ]);
    expect(result.text).toContain('Exit code 7');
    expect(result.text).toContain('--- stdout\na\\u{1b}[31m\\u{d}\n\\xff\\u{202e}');
    expect(result.text).toContain('--- stderr\nerr');
    expect((await lab.run(['sh', '-c', 'kill -SEGV $$'])).text).toContain(
      'Exit code 139 (SIGSEGV)',
    );
    expect(
      (await lab.run(['sh', '-c', 'echo x >/dev/stderr; echo y >/dev/stdout'])).text,
    ).toContain('x');
  });

  test('N22 200 in a row leave no process, no mount, no file', async () => {
    const before = { mounts: readFileSync('/proc/self/mountinfo', 'utf8'), files: list() };
    for (let round = 0; round < 200; round += 1) {
      expect((await lab.run(['true'])).text).toContain('Exit code 0');
    }
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).toBe(before.mounts);
    expect(list().filter((name) => !name.endsWith('/whiteout'))).toEqual(before.files);
    expect(findProcesses(join(lab.state, 'commands/200'))).toEqual([]);
  });
});

function list(): string[] {
  return readdirSync(lab.root, { recursive: true, encoding: 'utf8' }).sort();
}
