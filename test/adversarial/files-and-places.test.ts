import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PROTECTED_PATHS } from '../../src/confine/protected-path-table.ts';
import { CANARY, createLab, type Lab } from './support/lab.ts';

let lab: Lab;
beforeEach(async () => {
  lab = await createLab();
});
afterEach(() => lab.dispose());

function put(path: string, text = CANARY): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** Reads the file in every way that a command has, beginning with the plain one. */
const READERS = (path: string): string[][] => [
  ['cat', path],
  ['sh', '-c', `cat "${path}"; cp "${path}" /tmp/x; cat /tmp/x; grep -r . "${dirname(path)}"`],
  ['cat', `/proc/self/root${path}`],
  ['cat', `/proc/1/root${path}`],
];

async function expectHidden(path: string): Promise<void> {
  expect(await lab.bare(['cat', path])).toContain(CANARY);
  for (const argv of READERS(path)) expect((await lab.run(argv)).text).not.toContain(CANARY);
}

describe('T12 T16 nothing that a command writes is there afterwards', () => {
  const PLACES = [
    'project/new.txt',
    'project/a.txt',
    'project/.git/hooks/pre-commit',
    'project/.claude/settings.json',
    'project/.mcp.json',
    'project/.vscode/tasks.json',
    '.bashrc',
    '.config/autostart/x.desktop',
    '.local/bin/ls',
    '.npm/_cacache/x',
  ];

  test('B9 N22 writes succeed in session and home directory, and are gone', async () => {
    const before = snapshot(lab.root);
    const script = PLACES.map(
      (place) =>
        `mkdir -p "$(dirname "$HOME/${place}")" && echo ${CANARY} >"$HOME/${place}" && cat "$HOME/${place}"`,
    ).join('\n');
    const result = await lab.run(['sh', '-ec', script]);
    expect(result.text).toContain('Exit code 0');
    expect(result.text.split(CANARY).length - 1).toBe(PLACES.length);
    expect(result.text).toContain('What it wrote was thrown away.');
    expect(snapshot(lab.root)).toEqual(before);
  });

  test('B9 what one command wrote the next does not see', async () => {
    await lab.run(['sh', '-c', 'echo x >left; echo x >/tmp/left; echo x >/var/tmp/left']);
    const look = await lab.run(['ls', '-A', '.', '/tmp', '/var/tmp', '/dev/shm']);
    expect(look.text).not.toContain('left');
  });

  test('N22 outside of them writing fails, by whatever name', async () => {
    const before = snapshot(lab.root);
    const path = join(lab.outside, 'b.txt');
    for (const argv of [
      ['sh', '-c', `echo x >>"${path}"`],
      ['sh', '-c', `echo x >"${lab.outside}/new"`],
      ['sh', '-c', `ln -s "${lab.outside}" d && echo x >d/new`],
      ['sh', '-c', `ln "${path}" h && echo x >>h`],
      ['sh', '-c', `echo x >>"/proc/self/root${path}"`],
      ['sh', '-c', `mknod "${lab.outside}/null" c 1 3`],
      ['sh', '-c', `cp /bin/sh "${lab.outside}/sh" && chmod 4755 "${lab.outside}/sh"`],
      ['touch', '/usr/x', '/etc/x', '/x', '/root/x', '/home/x', '/opt/x'],
      ['sh', '-c', 'cp /bin/sh s && chmod 4755 s'],
    ]) {
      await lab.run(argv);
      expect(snapshot(lab.root)).toEqual(before);
    }
    for (const place of ['/usr/x', '/etc/x', '/x', '/opt/x']) expect(existsSync(place)).toBe(false);
  });

  test('T10 a file of the host that is linked inside is a copy', async () => {
    const path = join(lab.outside, 'b.txt');
    await lab.run(['sh', '-c', `ln "${path}" h || cp "${path}" h; echo changed >h; cat h`]);
    expect(readFileSync(path, 'utf8')).toBe('ordinary\n');
    expect(statSync(path).nlink).toBe(1);
  });
});

describe('protected places', () => {
  const inHome = PROTECTED_PATHS.filter(
    ({ pattern, platform }) => pattern.startsWith('~/') && platform !== 'darwin',
  ).map(({ pattern }) => pattern);

  test.each(inHome)('N12 N22 %s is not seen, as a file or as a directory', async (pattern) => {
    const place = join(lab.home, pattern.slice(2));
    await expectHidden(put(place));
    unlinkSync(place);
    await expectHidden(put(join(place, 'inside')));
  });

  test.each(['.env', '.env.local', 'server.pem', 'x.tfstate', 'deep/er/.env', 'k.kdbx'])(
    'N22 %s in the session directory is not seen, and the answer says so',
    async (name) => {
      const path = put(join(lab.project, name));
      await expectHidden(path);
      expect((await lab.run(['true'])).text).toContain(`Hidden from it as protected: ${path}.`);
    },
  );

  test('N22 secrets of another project of the home directory are not seen either', async () => {
    await expectHidden(put(join(lab.home, 'other/project/.env')));
  });

  test('N46 the state directory is not seen', async () => {
    await expectHidden(put(join(lab.state, 'secret.key')));
    await expectHidden(put(join(lab.state, 'sessions/x/home/y')));
  });

  test('what is harmless by its name stays: .env.example', async () => {
    put(join(lab.project, '.env.example'));
    expect((await lab.run(['cat', '.env.example'])).text).toContain(CANARY);
  });

  test('password hashes are not seen by a command of root', async () => {
    const control = await lab.bare(['cat', '/etc/shadow']);
    if (process.getuid?.() === 0) expect(control).toContain('root:');
    expect((await lab.run(['cat', '/etc/shadow', '/etc/gshadow'])).text).not.toContain('root:');
    expect((await lab.run(['cat', '/etc/passwd'])).text).toContain('root:');
  });

  test('T9 a further name of a protected file is hidden, and the command starts', async () => {
    const key = put(join(lab.home, '.ssh/id_test'));
    linkSync(key, join(lab.project, 'innocent'));
    linkSync(key, join(lab.home, 'deep'));
    await expectHidden(join(lab.project, 'innocent'));
    await expectHidden(join(lab.home, 'deep'));
    expect((await lab.run(['cat', 'a.txt'])).text).toContain('ordinary');
  });

  test('T14 a protected place, or a file in it, that is a symbolic link: its target is hidden', async () => {
    const target = put(join(lab.home, 'dotfiles/ssh/id_test'));
    symlinkSync(dirname(target), join(lab.home, '.ssh'));
    await expectHidden(target);
    await expectHidden(join(lab.home, '.ssh/id_test'));
    rmSync(join(lab.home, '.ssh'));
    const single = put(join(lab.outside, 'key'));
    mkdirSync(join(lab.home, '.ssh'));
    symlinkSync(single, join(lab.home, '.ssh/id_test'));
    await expectHidden(single);
  });

  test('T14 a link among them that is turned elsewhere while a command runs ends it', async () => {
    const [one, two] = ['one', 'two'].map((name) => dirname(put(join(lab.home, name, 'id_test'))));
    symlinkSync(one ?? '', join(lab.home, '.ssh'));
    const running = lab.run(['sh', '-c', `sleep 20; cat "${two}/id_test"`]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    rmSync(join(lab.home, '.ssh'));
    symlinkSync(two ?? '', join(lab.home, '.ssh'));
    const result = await running;
    expect(result.failure).toBe('protected_path');
    expect(result.text).not.toContain(CANARY);
  });

  test('T13 a file that the host renames to a hidden name while a command runs stays hidden', async () => {
    const paths = ['project/.env', '.netrc', '.ssh', '.npmrc', '.config/gh'].map((name) =>
      put(join(lab.home, name), 'old'),
    );
    const script = `touch started; for i in 1 2 3 4 5 6 7 8 9 10; do cat ${paths.map((path) => `"${path}"`).join(' ')} "${lab.home}/.ssh/new"; sleep 0.1; done`;
    const running = lab.run(['sh', '-c', script]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (const path of paths) renameSync(put(`${path}.new`), path);
    rmSync(join(lab.home, '.ssh'));
    put(join(lab.home, '.ssh/new'));
    const result = await running;
    expect(result.text).toContain('No such file');
    expect(result.text).not.toContain(CANARY);
  });

  test('what comes to be inside of a protected place ends no command', async () => {
    put(join(lab.home, '.ssh/id_test'));
    const running = lab.run(['sh', '-c', 'sleep 7']);
    await new Promise((resolve) => setTimeout(resolve, 500));
    put(join(lab.home, '.ssh/id_new'));
    const result = await running;
    expect(result.failure).toBeUndefined();
  });

  test('a secret that appears in a new place while a command runs was closed before it was there', async () => {
    const script = 'sleep 0.8; cat "$HOME/.aws/credentials" "$HOME/.config/gh/hosts.yml"';
    const running = lab.run(['sh', '-c', script]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    put(join(lab.home, '.aws/credentials'));
    put(join(lab.home, '.config/gh/hosts.yml'));
    expect((await running).text).not.toContain(CANARY);
  });

  test('T16 a protected place is not reached by moving what is above it', async () => {
    put(join(lab.home, '.ssh/id_test'));
    const script = `cd "$HOME/.." && { mv home moved; cat moved/.ssh/*; cp -r home copy; cat copy/.ssh/*; }; cd "$HOME"; cp -r . /tmp/c; cat /tmp/c/.ssh/*`;
    expect((await lab.run(['sh', '-c', script])).text).not.toContain(CANARY);
  });

  test('what a user closes is closed, and what a user opens is open and shown', async () => {
    lab.dispose();
    lab = await createLab({
      settings: { closed: ['~/keys', '*.secret'], opened: ['~/.npmrc', '.env'] },
    });
    await expectHidden(put(join(lab.home, 'keys/a')));
    await expectHidden(put(join(lab.project, 'x.secret')));
    put(join(lab.home, '.npmrc'));
    put(join(lab.project, '.env'));
    expect((await lab.run(['cat', join(lab.home, '.npmrc')])).text).toContain(CANARY);
    expect((await lab.run(['cat', '.env'])).text).toContain(CANARY);
    expect(lab.context.protection.opened).toEqual(['~/.npmrc', '.env']);
  });
});

test('N46 what a user opens never opens the state of Reins, for commands or for files', async () => {
  const opened = await createLab({ settings: { closed: [], opened: ['~/.local', '~/.ssh/'] } });
  const key = join(opened.state, 'secret.key');
  writeFileSync(key, CANARY);
  mkdirSync(join(opened.home, '.ssh'));
  writeFileSync(join(opened.home, '.ssh/config'), 'open');
  expect(opened.context.protection.reasonFor(key)).toBe('state of Reins');
  expect((await opened.run(['cat', key])).text).not.toContain(CANARY);
  expect(opened.context.protection.reasonFor(join(opened.home, '.ssh/config'))).toBeUndefined();
  expect((await opened.run(['cat', join(opened.home, '.ssh/config')])).text).toContain('open');
  opened.dispose();
});

test('T11 a protected name in a place that is not UTF-8 is hidden with its directory, or refused', async () => {
  const odd = Buffer.concat([
    Buffer.from(join(lab.project, 'sub')),
    Buffer.from('/caf\xe9', 'latin1'),
  ]);
  mkdirSync(odd, { recursive: true });
  writeFileSync(Buffer.concat([odd, Buffer.from('/.env')]), CANARY);
  expect(await lab.bare(['sh', '-c', 'cat */*/.env'])).toContain(CANARY);
  const { text } = await lab.run(['sh', '-c', 'cat */*/.env; cat a.txt']);
  expect(text).not.toContain(CANARY);
  expect(text).toContain('ordinary');
  writeFileSync(
    Buffer.concat([Buffer.from(`${lab.project}/`), Buffer.from('k\xe9y.pem', 'latin1')]),
    CANARY,
  );
  await expect(lab.run(['sh', '-c', 'cat *.pem'])).rejects.toThrow(/not UTF-8/);
});

test('N12 a home directory that is named through a link hides the same, and commands run', async () => {
  put(join(lab.home, '.ssh/id_test'));
  put(join(lab.home, 'other/.env'));
  symlinkSync(lab.home, join(lab.root, 'link'));
  const linked = await createLab({ home: join(lab.root, 'link'), project: lab.project });
  const script =
    'cat a.txt; cat "$HOME/.ssh/id_test" "$HOME/other/.env" ../.ssh/id_test ../other/.env';
  const { text } = await linked.run(['sh', '-c', script]);
  expect(text).toContain('ordinary');
  expect(text).not.toContain(CANARY);
  expect(text).not.toContain('bwrap:');
  linked.dispose();
});

test('T14 a protected name that is a symbolic link is hidden, and so is what it leads to', async () => {
  const target = put(join(lab.home, 'dotfiles/prod-settings'));
  symlinkSync(target, join(lab.project, '.env'));
  await expectHidden(join(lab.project, '.env'));
  await expectHidden(target);
});

describe('T4 where a command runs', () => {
  const cwdOf = (cwd: string) => lab.run(['pwd'], { cwd });

  test('N22 any readable directory is taken, and is no wider for it', async () => {
    for (const cwd of [lab.outside, '/', '/usr/share', '.']) {
      const result = await cwdOf(cwd);
      expect(result.text).toContain('Exit code 0');
    }
    await lab.run(['sh', '-c', 'echo x >new'], { cwd: lab.outside });
    expect(readdirSync(lab.outside)).toEqual(['b.txt']);
  });

  test.each(['.ssh', 'link', 'gone', 'project/a.txt', 'project/.git'])(
    '%s is refused',
    async (name) => {
      put(join(lab.home, '.ssh/id_test'));
      mkdirSync(join(lab.project, '.git'));
      symlinkSync(lab.outside, join(lab.home, 'link'));
      await expect(cwdOf(join(lab.home, name))).rejects.toThrow(
        /closed|symbolic link|does not exist|not a directory/,
      );
    },
  );
});

/** Every file below, with its content, mode and number of names. */
function snapshot(root: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => !join(entry.parentPath, entry.name).includes('/state/reins/commands'))
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const stat = statSync(path);
        const content = entry.isFile() ? readFileSync(path, 'latin1') : '';
        return [path, `${stat.mode} ${stat.nlink} ${content}`];
      }),
  );
}
