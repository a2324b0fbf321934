import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import type { JsonObject } from '../../../src/base/canonical-json.ts';
import type { Receipt } from '../../../src/ledger/actions.ts';
import { checkToolCall } from '../../../src/tools/tool-set.ts';
import { asOrdinaryUser } from './support/as-ordinary-user.ts';
import { whileMeddling } from './support/meddler.ts';
import { makePlaces, openToolSession, type ToolSession } from './support/tool-session.ts';

let session: ToolSession;

beforeEach(() => {
  session = openToolSession();
});

afterEach(() => {
  session.dispose();
});

function put(name: string, content: string | Buffer, directory = session.project): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const write = (path: string, content: string): Promise<Receipt> =>
  session.call('Write', { file_path: path, content });

/** Writes over a file of the given content and returns its bytes afterwards, as text. */
async function written(before: string | Buffer, content: string): Promise<string> {
  const path = put(`file-${readdirSync(session.project).length}`, before);
  expect((await write(path, content)).code).toBeNull();
  return readFileSync(path, 'utf8');
}

async function expectRefused(path: string, code: string): Promise<void> {
  const before = { bytes: readFileSync(path), ino: statSync(path).ino };
  expect([path, (await write(path, 'new')).code]).toEqual([path, code]);
  expect({ bytes: readFileSync(path), ino: statSync(path).ino }).toEqual(before);
}

test('N19 creates a file with exactly the content given, missing parents included', async () => {
  const contents = [
    'text\n',
    '',
    'no line feed',
    'a\r\nb\r\n',
    '\ufeffbom',
    'zero\0byte',
    '😀\u2028\r',
  ];
  for (const [position, content] of contents.entries()) {
    const path = join(session.project, `a/b ${position}/c.d/file`);
    expect((await write(path, content)).code).toBeNull();
    expect(readFileSync(path, 'utf8')).toBe(content);
  }
  expect((await write('relative/../to/file', 'x')).code).toBeNull();
  expect(readdirSync(session.project).sort()).toEqual(['a', 'to']);
});

test('N19 new files and directories take the mode that the umask leaves', async () => {
  const umask = process.umask(0o027);
  try {
    await write('new/deep/file', 'x');
  } finally {
    process.umask(umask);
  }
  const mode = (name: string): number => statSync(join(session.project, name)).mode & 0o7777;
  expect([mode('new'), mode('new/deep'), mode('new/deep/file')]).toEqual([0o750, 0o750, 0o640]);
  expect(statSync(join(session.project, 'new/deep/file')).nlink).toBe(1);
});

test('N19 F56 replaces a file whole and keeps its mode', async () => {
  for (const mode of [0o755, 0o600, 0o640]) {
    const path = put(`mode-${mode.toString(8)}`, 'a much longer content than the new one\n');
    chmodSync(path, mode);
    expect((await write(path, 'new\n')).code).toBeNull();
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o7777]).toEqual(['new\n', mode]);
  }
});

test('N19 F52 the byte order mark of a replaced file stays, once', async () => {
  expect(await written('\ufeffold', 'new')).toBe('\ufeffnew');
  expect(await written('\ufeffold', '\ufeffnew')).toBe('\ufeffnew');
  expect(await written('\ufeffold', '')).toBe('\ufeff');
  expect(await written('old', '\ufeffnew')).toBe('\ufeffnew');
});

test('N19 F51 the CRLF of a replaced file stay; mixed and explicit line ends are taken as given', async () => {
  expect(await written('a\r\nb\r\n', 'x\ny\n')).toBe('x\r\ny\r\n');
  expect(await written('\ufeffa\r\n', 'x\ny')).toBe('\ufeffx\r\ny');
  expect(await written('a\r\nb\r\n', 'x\r\ny\n')).toBe('x\r\ny\n');
  expect(await written('a\r\nb\n', 'x\ny\n')).toBe('x\ny\n');
  expect(await written('a\nb\n', 'x\r\ny\r\n')).toBe('x\r\ny\r\n');
  expect(await written('one line', 'x\ny\n')).toBe('x\ny\n');
});

test('N19 F53 what is not UTF-8 may be replaced as a whole, and is kept as before-image byte by byte', async () => {
  const bytes = Buffer.from([0xff, 0x00, 0x80, 0x0a]);
  const path = put('binary', bytes);
  const [action] = session.authorize({
    tool: 'Write',
    input: { file_path: path, content: 'text' },
  });
  if (action === undefined) throw new Error('nothing was authorised');
  expect((await session.run(action)).code).toBeNull();
  expect(readFileSync(path, 'utf8')).toBe('text');
  const kept = session.database.all(
    z.object({ hex: z.string() }),
    'SELECT hex(bytes) AS hex FROM blobs',
  );
  expect(kept).toContainEqual({ hex: 'FF00800A' });
});

test('N19 F54 quotes, trailing spaces and the missing final line feed arrive as given', async () => {
  const content = '“q” ‘r’ …  \n\t \u00a0\nend  ';
  expect(await written('old\n', content)).toBe(content);
});

test('N19 F55 a Hangul name is written under the form that is there, and no second file or directory appears', async () => {
  const directory = '폴더'.normalize('NFD');
  const name = '메모.txt';
  const path = put(join(directory, name.normalize('NFC')), 'old');
  expect(
    (await write(join('폴더'.normalize('NFC'), name.normalize('NFD')), 'new')).code,
  ).toBeNull();
  expect(
    (await write(join('폴더'.normalize('NFC'), '새로'.normalize('NFC')), 'x')).code,
  ).toBeNull();
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(readdirSync(session.project)).toEqual([directory]);
  expect(readdirSync(join(session.project, directory)).sort()).toEqual(
    [name.normalize('NFC'), '새로'.normalize('NFC')].sort(),
  );
});

test('N19 F4 permissions: a read-only file is not replaced, even by root', async () => {
  for (const mode of [0o444, 0o500]) {
    const path = put(`mode-${mode.toString(8)}`, 'old');
    chmodSync(path, mode);
    await expectRefused(path, 'read_only_file');
  }
});

test('N19 F57 F4 links: a file with a second name is refused, and both names stay one file', async () => {
  const path = put('a', 'old');
  linkSync(path, join(session.outside, 'b'));
  await expectRefused(path, 'hard_link');
  expect(statSync(path).nlink).toBe(2);
});

test('N19 T3 F57 F4 links: a dangling link creates nothing outside, and no link is written through', async () => {
  const target = put('there', 'old', session.outside);
  put('sub/there', 'old', session.outside);
  mkdirSync(join(session.project, 'real'));
  const links: Record<string, string> = {
    dangling: join(session.outside, 'new'),
    'dangling-directory': join(session.outside, 'none'),
    'file-link': target,
    'directory-link': session.outside,
    'inner-directory-link': join(session.project, 'real'),
    loop: 'loop',
  };
  for (const [name, to] of Object.entries(links)) symlinkSync(to, join(session.project, name));
  for (const path of [
    'dangling',
    'dangling-directory/file',
    'dangling-directory/a/b/file',
    'file-link',
    'directory-link/there',
    'directory-link/new',
    'directory-link/a/b/new',
    'directory-link/sub/there',
    'directory-link/sub/new',
    'directory-link/sub/a/new',
    'inner-directory-link/new',
    'loop',
    'loop/new',
  ]) {
    expect([path, (await write(path, 'new')).code]).toEqual([path, 'symbolic_link']);
  }
  expect(readdirSync(session.outside, { recursive: true }).sort()).toEqual([
    'sub',
    'sub/there',
    'there',
  ]);
  expect(readFileSync(target, 'utf8')).toBe('old');
  expect(readdirSync(join(session.project, 'real'))).toEqual([]);
  for (const name of Object.keys(links)) {
    expect(lstatSync(join(session.project, name)).isSymbolicLink()).toBe(true);
  }
});

test('N19 T1 nothing outside the write root is written or made, by whatever spelling', async () => {
  const evil = `${session.project}-evil`;
  mkdirSync(evil);
  for (const path of [
    `${evil}/file`,
    `${session.project}/../project-evil/file`,
    '../outside/file',
    'a/../../outside/b/file',
    session.project,
    '.',
    '/',
    '/file',
    join(session.home, 'file'),
  ]) {
    expect([path, (await write(path, 'x')).code]).toEqual([path, 'outside_write_root']);
  }
  expect((await write('/proc/self/cwd/file', 'x')).code).toBe('virtual_filesystem');
  expect((await write('/dev/shm/file', 'x')).code).toBe('virtual_filesystem');
  for (const place of [evil, session.outside, session.home, session.project])
    expect(readdirSync(place)).toEqual([]);
});

test('N19 N12 T12 protected names, .git and what other programs run code from are not created', async () => {
  for (const name of ['.env', 'deep/.env.production', 'key.pem', 'vault.kdbx', 'x.tfstate']) {
    expect([name, (await write(name, 'x')).code]).toEqual([name, 'protected_path']);
  }
  for (const name of [
    '.git',
    '.git/hooks/post-checkout',
    'sub/.git/config',
    '.GIT/config',
    'a/.Git',
  ]) {
    expect([name, (await write(name, 'x')).code]).toEqual([name, 'git_directory']);
  }
  // What would run later, outside of any session.
  for (const name of [
    '.vscode/tasks.json',
    'a/.claude/settings.json',
    '.mcp.json',
    '.envrc',
    '.idea/x',
  ]) {
    expect([name, (await write(name, 'x')).code]).toEqual([name, 'protected_path']);
  }
  expect(readdirSync(session.project)).toEqual([]);
  for (const name of [
    '.env.example',
    '.gitignore',
    '.github/x',
    'git/config',
    'vscode/x',
    'claude.md',
  ]) {
    expect([name, (await write(name, 'x')).code]).toEqual([name, null]);
  }
});

test('N19 N12 no protected place inside the write root is written, also when the home is there or links there', async () => {
  const places = makePlaces();
  mkdirSync(join(places.project, 'dotfiles/ssh'), { recursive: true });
  symlinkSync(join(places.project, 'dotfiles/ssh'), join(places.home, '.ssh'));
  const linked = openToolSession({ places });
  const inside = openToolSession({ places, home: places.project });
  try {
    const authorize = (path: string): JsonObject => ({ file_path: path, content: 'x' });
    for (const name of ['dotfiles/ssh/authorized_keys', 'dotfiles/ssh/new/key']) {
      expect([name, (await linked.call('Write', authorize(name))).code]).toEqual([
        name,
        'protected_path',
      ]);
    }
    for (const name of [
      '.ssh/authorized_keys',
      '.aws/credentials',
      '.claude/settings.json',
      '.npmrc',
    ]) {
      expect([name, (await inside.call('Write', authorize(name))).code]).toEqual([
        name,
        'protected_path',
      ]);
    }
    expect(readdirSync(places.project)).toEqual(['dotfiles']);
    expect(readdirSync(join(places.project, 'dotfiles/ssh'))).toEqual([]);
  } finally {
    inside.database.close();
    linked.dispose();
  }
});

test('N19 N14 what is no regular file is not replaced, and nothing is made below a file', async () => {
  const pipe = join(session.project, 'pipe');
  execFileSync('mkfifo', [pipe]);
  put('file', 'old');
  mkdirSync(join(session.project, 'directory'));
  const codes = {
    pipe: 'not_a_regular_file',
    directory: 'not_a_regular_file',
    'directory/': 'not_a_regular_file',
    'file/below': 'not_a_directory',
    'pipe/below': 'not_a_directory',
    [`${'d/'.repeat(40)}file`]: 'path_not_found',
  };
  for (const [path, code] of Object.entries(codes)) {
    expect([path, (await write(path, 'x')).code]).toEqual([path, code]);
  }
  expect(lstatSync(pipe).isFIFO()).toBe(true);
  expect(readFileSync(join(session.project, 'file'), 'utf8')).toBe('old');
  expect(readdirSync(session.project).sort()).toEqual(['directory', 'file', 'pipe']);
});

test('N19 a name that the file system cannot hold is refused and leaves nothing', async () => {
  expect((await write('n'.repeat(256), 'x')).is_error).toBe(true);
  expect((await write(`${'d'.repeat(200)}/`.repeat(25), 'x')).code).toBe('path_invalid');
  expect((await write('', 'x')).code).toBe('path_invalid');
  expect((await write('zero\0byte', 'x')).code).toBe('path_invalid');
  expect(readdirSync(session.project)).toEqual([]);
  const longest = 'n'.repeat(255);
  expect((await write(longest, 'x')).code).toBeNull();
  expect(readdirSync(session.project)).toEqual([longest]);
});

test('N19 a name with line feeds, escapes and invisible characters is written as it is', async () => {
  const names = ['a\nb', 'esc\x1b[2J', 'rlo\u202etxt', '-n', '*', ' '];
  for (const name of names) expect([name, (await write(name, name)).code]).toEqual([name, null]);
  expect(readdirSync(session.project).sort()).toEqual([...names].sort());
});

test('N19 N8 content above the limit is refused whole, and so is replacing a file above it', async () => {
  expect((await write('new/large', 'a'.repeat(10 * 1024 * 1024 + 1))).code).toBe('file_too_large');
  expect(readdirSync(session.project)).toEqual([]);
  const path = put('large', Buffer.alloc(10 * 1024 * 1024 + 1));
  expect((await write(path, 'small')).code).toBe('file_too_large');
  expect(statSync(path).size).toBe(10 * 1024 * 1024 + 1);
});

test('N20 F4 concurrency: a file that changed since it was read is not overwritten, even with equal size and mtime', async () => {
  const path = put('a.txt', 'one\n');
  await session.call('Read', { file_path: path });
  const { atime, mtime } = statSync(path);
  writeFileSync(path, 'two\n');
  utimesSync(path, atime, mtime);
  await expectRefused(path, 'file_changed');
  await session.call('Read', { file_path: path });
  expect((await write(path, 'three\n')).code).toBeNull();
  expect((await write(path, 'four\n')).code).toBeNull();
  expect(readFileSync(path, 'utf8')).toBe('four\n');
});

test('N20 F4 concurrency: a file that was read and then removed or replaced by name is judged by what is there', async () => {
  const path = put('a.txt', 'one\n');
  await session.call('Read', { file_path: path });
  rmSync(path);
  expect((await write(path, 'new\n')).code).toBeNull();
  put('other', 'somebody else\n');
  renameSync(join(session.project, 'other'), path);
  await expectRefused(path, 'file_changed');
});

test('N20 F4 concurrency: parallel writes of one new file leave one of their contents, whole', async () => {
  const contents = Array.from({ length: 8 }, (_, at) => `${at}`.repeat(50_000));
  const actions = session.authorize(
    ...contents.map((content) => ({ tool: 'Write', input: { file_path: 'new/file', content } })),
  );
  const receipts = await Promise.all(actions.map((action) => session.run(action)));
  expect(receipts.map(({ code }) => code)).toEqual(Array(8).fill(null));
  expect(readFileSync(join(session.project, 'new/file'), 'utf8')).toBe(contents.at(-1));
});

test('N20 F4 concurrency: two sessions that write one new file at once do not both succeed unnoticed', async () => {
  const { project } = session;
  const second = openToolSession({ places: { ...session, project } });
  try {
    for (let round = 0; round < 20; round += 1) {
      const input = (content: string): JsonObject => ({ file_path: `new-${round}`, content });
      const [a, b] = await Promise.all([
        session.call('Write', input('first')),
        second.call('Write', input('second')),
      ]);
      const content = readFileSync(join(project, `new-${round}`), 'utf8');
      expect(['first', 'second']).toContain(content);
      const both = a.code === null && b.code === null;
      // Both may succeed one after the other; then the later one has seen and replaced the earlier.
      if (!both) expect([a, b].map(({ code }) => code)).toContain('file_changed');
    }
  } finally {
    second.database.close();
  }
});

test('N20 F57 a directory swapped for a link during writes makes nothing outside', async () => {
  const directory = join(session.project, 'swapped');
  put('swapped/sub/keep', '');
  put('sub/keep', '', session.outside);
  const other = join(session.project, 'link');
  symlinkSync(session.outside, other);
  const codes = new Set<string | null>();
  await whileMeddling({ deed: 'swap', path: directory, other }, async () => {
    for (let round = 0; round < 150; round += 1) {
      const path =
        round % 2 === 0 ? `swapped/sub/new-${round}` : `swapped/sub/sub-${round}/deep/new`;
      codes.add((await write(path, 'x')).code);
    }
  });
  expect(readdirSync(session.outside, { recursive: true }).sort()).toEqual(['sub', 'sub/keep']);
  expect(readFileSync(join(session.outside, 'sub/keep'), 'utf8')).toBe('');
  expect(codes).toContain(null);
  expect(codes.has('symbolic_link') || codes.has('file_changed')).toBe(true);
});

test('N20 F57 content swapped under a Write is never half of one and half of the other', async () => {
  const path = put('file', '');
  const ours = 'o'.repeat(100_000);
  const codes = new Set<string | null>();
  await whileMeddling({ deed: 'rewrite', path, text: 't'.repeat(100_000) }, async () => {
    for (let round = 0; round < 40; round += 1) {
      const { code } = await write(path, ours);
      codes.add(code);
      // The other one truncates before it writes, so what it leaves may be short; it is never mixed with ours.
      expect(readFileSync(path, 'utf8')).toMatch(/^(o{100000}|t*\d*)$/);
    }
  });
  expect([...codes].filter((code) => code !== null && code !== 'file_changed')).toEqual([]);
  expect(codes).toContain('file_changed');
});

test('N12 N19 a directory that the operating system closes stays as it is', async () => {
  const closed = join(session.project, 'closed');
  mkdirSync(closed, { mode: 0o555 });
  const { code } = await asOrdinaryUser(() => write('closed/new', 'x'));
  expect([code, existsSync(join(closed, 'new'))]).toEqual(['write_failed', false]);
  chmodSync(closed, 0o755);
});

test('N19 unknown parameters and text that UTF-8 cannot carry are refused before anything runs', () => {
  const good = { file_path: 'a', content: 'b' };
  expect(() => checkToolCall('direct_write', { tool: 'Write', input: good }, 0)).not.toThrow();
  const wrong: JsonObject[] = [
    { mode: 0o777 },
    { content: 'a\ud800' },
    { content: null },
    { file_path: 1 },
  ];
  for (const bad of wrong) {
    const input: JsonObject = { ...good, ...bad };
    expect(() => checkToolCall('direct_write', { tool: 'Write', input }, 0)).toThrow(
      expect.objectContaining({ code: 'tool_call_invalid' }),
    );
  }
});
