import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { processesOf } from '../../support/test-home.ts';
import { asOrdinaryUser } from './support/as-ordinary-user.ts';
import { expectedWalk } from './support/expected-walk.ts';
import { look } from './support/look.ts';
import { allPages, cursorOf, listed, namesNumber } from './support/receipts.ts';
import { openToolSession, required, type ToolSession } from './support/tool-session.ts';

const MAX_RECEIPT_BYTES = 48 * 1024;

let session: ToolSession;

beforeEach(() => {
  session = openToolSession({ profile: 'read_only' });
});

afterEach(() => {
  session.dispose();
});

function put(name: string | Buffer, directory = session.project): string {
  const path = Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(name)]);
  mkdirSync(dirname(path.toString()), { recursive: true });
  writeFileSync(path, 'x');
  return path.toString();
}

const find = (input: { [parameter: string]: string | number } = {}) =>
  session.call('FindFiles', input);

const names = (receipt: Awaited<ReturnType<typeof find>>): string[] =>
  listed(receipt).map((path) => path.slice(session.project.length + 1));

test('N15 lists every file once, in byte order of path components, whatever the page size', async () => {
  const odd = ['a', 'a.b', 'a-b', 'a b', 'A', 'Z/z', 'é', 'e\u0301', '한', 'a.b.c', '~', '0'];
  for (const name of odd.filter((name) => name !== 'a')) put(name);
  for (const name of [
    'a/b',
    'a/.x',
    'a!/x',
    'a0/x',
    'B/a/a',
    'B/a.a',
    '한글/가',
    '😀/\u{10ffff}',
    '\uffee',
  ])
    put(name);
  const expected = expectedWalk(session.project);
  expect(expected).toHaveLength(odd.length - 1 + 9);
  for (const limit of [1, 2, 3, 7, 100]) {
    const pages = await allPages(session, 'FindFiles', { limit });
    expect(pages.flatMap(listed)).toEqual(expected);
    expect(pages.map(({ truncated }) => truncated)).toEqual(
      pages.map((_, at) => at < pages.length - 1),
    );
  }
});

test('N15 pages are complete for any names', async () => {
  const name = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 6 })
    .map((text) => text.replaceAll(/[\0/\ud800-\udfff]/g, '_'))
    .filter((text) => !/^\.{1,2}$/.test(text) && text.toLowerCase() !== '.git');
  const paths = fc.uniqueArray(fc.array(name, { minLength: 1, maxLength: 2 }), {
    selector: (parts) => parts[0],
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(paths, fc.integer({ min: 1, max: 5 }), async (all, limit) => {
      rmSync(session.project, { recursive: true });
      mkdirSync(session.project);
      for (const parts of all) put(parts.join('/'));
      const pages = await allPages(session, 'FindFiles', { limit });
      expect(pages.flatMap(listed).filter((line) => line !== '')).toHaveLength(all.length);
      expect(new Set(pages.flatMap(listed)).size).toBe(all.length);
    }),
    { numRuns: 30 },
  );
});

test('F60 N15 20,000 files come in pages, each once and in order, and leave no process behind', async () => {
  for (let directory = 0; directory < 100; directory += 1) {
    mkdirSync(join(session.project, `d${directory}`));
    for (let file = 0; file < 200; file += 1) {
      writeFileSync(join(session.project, `d${directory}`, `f${file}`), '');
    }
  }
  const pages = await allPages(session, 'FindFiles', { limit: 1_000 }, (page) => {
    expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(MAX_RECEIPT_BYTES);
    expect(processesOf(session.root)).toEqual([]);
  });
  expect(pages.flatMap(listed)).toEqual(expectedWalk(session.project));
});

test('N15 files that come and go between pages neither repeat nor hide the others', async () => {
  for (let file = 10; file < 40; file += 1) put(`f${file}`);
  const all = expectedWalk(session.project);
  const seen: string[] = [];
  await allPages(session, 'FindFiles', { limit: 4 }, (page) => {
    seen.push(...listed(page));
    rmSync(required(listed(page).at(-1)));
    put(`f0${seen.length}`);
  }).then((pages) => seen.push(...listed(required(pages.at(-1)))));
  expect(seen).toEqual(all);
});

test('N15 filters are plain text: no wildcard, no expression, upper and lower case alike', async () => {
  for (const name of [
    'a*c.ts',
    'abc.ts',
    'ABD.TS',
    'x[1].tsx',
    'x1.tsx',
    'notes',
    'ts',
    '.ts',
    'a.b.ts',
  ])
    put(name);
  expect(names(await find({ name_contains: '*' }))).toEqual(['a*c.ts']);
  expect(names(await find({ name_contains: '[1]' }))).toEqual(['x[1].tsx']);
  expect(names(await find({ name_contains: '.*' }))).toEqual([]);
  expect(names(await find({ name_contains: 'abd' }))).toEqual(['ABD.TS']);
  expect(names(await find({ extension: 'ts' }))).toEqual([
    '.ts',
    'ABD.TS',
    'a*c.ts',
    'a.b.ts',
    'abc.ts',
  ]);
  expect(names(await find({ extension: '.b.ts' }))).toEqual(['a.b.ts']);
  expect(names(await find({ name_contains: 'a', extension: 'ts' }))).toEqual([
    'ABD.TS',
    'a*c.ts',
    'a.b.ts',
    'abc.ts',
  ]);
});

test('N15 the depth is counted from the directory named', async () => {
  for (const name of ['1', 'a/2', 'a/b/3']) put(name);
  expect(names(await find({ max_depth: 1 }))).toEqual(['1']);
  expect(names(await find({ max_depth: 2 }))).toEqual(['1', 'a/2']);
  expect(listed(await find({ directory: 'a', max_depth: 1 }))).toEqual([
    join(session.project, 'a/2'),
  ]);
});

test('N15 N12 lists any absolute directory', async () => {
  const path = put('there', session.outside);
  expect(listed(await find({ directory: session.outside }))).toEqual([path]);
  const [here] = listed(await find({ directory: '/', max_depth: 2, name_contains: 'hostname' }));
  expect(here).toBe('/etc/hostname');
});

test('N14 N15 a walk from the root stays out of the virtual file systems of the kernel', async () => {
  const pages = await allPages(session, 'FindFiles', {
    directory: '/',
    max_depth: 3,
    limit: 1_000,
  });
  const virtual = pages.flatMap(listed).filter((path) => /^\/(proc|sys|dev)\//.test(path));
  expect(virtual).toEqual([]);
  mkdirSync(join(session.project, 'proc'));
  put('proc/real');
  expect(names(await find())).toEqual(['proc/real']);
});

test('N15 ignored and hidden files are listed, whatever ignore files say', async () => {
  for (const name of ['.gitignore', '.ignore', '.rgignore', '.hidden', 'dist/x', '.config/y'])
    put(name);
  for (const name of ['.gitignore', '.ignore', '.rgignore'])
    writeFileSync(join(session.project, name), '*\n');
  expect(names(await find())).toEqual([
    '.config/y',
    '.gitignore',
    '.hidden',
    '.ignore',
    '.rgignore',
    'dist/x',
  ]);
});

test('N17 .git, links, loops and what is no regular file are left out', async () => {
  for (const name of ['.git/config', 'sub/.git', 'deep/.GIT/config', 'a.git/kept', '.github/kept'])
    put(name);
  put('secret', session.outside);
  symlinkSync(session.outside, join(session.project, 'directory-link'));
  symlinkSync(join(session.outside, 'secret'), join(session.project, 'file-link'));
  symlinkSync('..', join(session.project, 'a.git', 'loop'));
  symlinkSync('nowhere', join(session.project, 'dangling'));
  execFileSync('mkfifo', [join(session.project, 'pipe')]);
  expect(names(await find())).toEqual(['.github/kept', 'a.git/kept']);
});

test('N17 protected paths, and other names of protected files, are left out', async () => {
  const keys = join(session.home, '.ssh');
  put('id_ed25519', keys);
  put('config.json', join(session.home, '.docker'));
  put('other.json', join(session.home, '.docker'));
  linkSync(join(keys, 'id_ed25519'), join(session.home, 'hard-link'));
  put('real-key', session.outside);
  symlinkSync(join(session.outside, 'real-key'), join(keys, 'linked'));
  put('.env', session.outside);
  put('.env.example', session.outside);
  expect(listed(await find({ directory: session.root }))).toEqual([
    join(session.home, '.docker/other.json'),
    join(session.outside, '.env.example'),
  ]);
  expect((await find({ directory: keys })).code).toBe('protected_path');
});

test('F55 N15 Hangul names are found in either normalisation, and both twins are listed', async () => {
  const name = '한글 메모.txt';
  put(name.normalize('NFC'));
  put(name.normalize('NFD'));
  put(join('폴더'.normalize('NFD'), '안.md'));
  for (const form of ['NFC', 'NFD'] as const) {
    const found = names(await find({ name_contains: '메모'.normalize(form) }));
    expect(found.sort()).toEqual([name.normalize('NFC'), name.normalize('NFD')].sort());
    const below = listed(await find({ directory: '폴더'.normalize(form) }));
    expect(below).toEqual([join(session.project, '폴더'.normalize('NFD'), '안.md')]);
  }
});

test('N15 T11 a name that could pose as another is shown escaped, on one line', async () => {
  for (const name of ['a\nb', 'esc\x1b[31m', 'rlo\u202etxt', 'zero\u200b', 'tag\u{e0041}'])
    put(name);
  const shown = names(await find());
  expect(shown).toHaveLength(5);
  const invisible = ['\n', '\x1b', '\u202e', '\u200b', '\u{e0041}'];
  expect(invisible.filter((character) => shown.join('').includes(character))).toEqual([]);
});

test('N15 names that are not UTF-8 are listed apart from each other, and pages stay complete', async () => {
  const bytes = [
    [0x80],
    [0xff],
    [0xfe],
    [0xc3, 0xa9],
    [0xef, 0xbf, 0xbd],
    [0xf0, 0x9f, 0x98, 0x80],
    [0x41],
  ];
  for (const name of bytes) put(Buffer.from([0x78, ...name]));
  for (const limit of [1, 2, 3, 10]) {
    const pages = await allPages(session, 'FindFiles', { limit });
    const shown = pages.flatMap(listed);
    expect(new Set(shown).size).toBe(bytes.length);
    expect(shown).toHaveLength(bytes.length);
    expect(shown.filter((path) => path.includes('\ufffd'))).toHaveLength(1);
  }
});

test('N18 a page of names that grow when escaped stays within a receipt and can be followed', async () => {
  for (let file = 100; file < 300; file += 1) put(`${file}${'\x1b'.repeat(240)}`);
  for (let file = 300; file < 500; file += 1) put(`${file}${'한'.repeat(80)}`);
  const pages = await allPages(session, 'FindFiles', { limit: 1_000 }, (page) => {
    expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(MAX_RECEIPT_BYTES);
  });
  const shown = pages
    .flatMap(listed)
    .map((path) => Number(path.slice(session.project.length + 1, -1).slice(0, 3)));
  expect(shown).toEqual(Array.from({ length: 400 }, (_, at) => at + 100));
});

test('N18 a cursor for the longest path works', async () => {
  let directory = session.project;
  while (Buffer.byteLength(directory) < 3_700) {
    directory = join(directory, '\x1b'.repeat(200));
    mkdirSync(directory);
  }
  for (const name of ['a', 'b', 'c']) writeFileSync(join(directory, name), '');
  expect((await allPages(session, 'FindFiles', { limit: 1 })).flatMap(listed)).toHaveLength(3);
});

test('N15 a cursor belongs to its question', async () => {
  for (const name of ['a', 'b', 'c']) put(name);
  const cursor = required(cursorOf(await find({ limit: 1 })));
  expect((await find({ cursor, limit: 2 })).is_error).toBe(false);
  expect((await find({ cursor, max_depth: 1 })).code).toBe('cursor_invalid');
  expect((await find({ cursor, directory: session.outside })).code).toBe('cursor_invalid');
  for (const forged of ['x', '', 'AAAA', `${cursor}=`, cursor.slice(1)]) {
    expect([forged, (await find({ cursor: forged })).code]).toEqual([forged, 'cursor_invalid']);
  }
});

test('N15 F57 what is no directory is refused with a code', async () => {
  put('file');
  put('in', session.outside);
  symlinkSync(session.outside, join(session.project, 'link'));
  execFileSync('mkfifo', [join(session.project, 'pipe')]);
  const codes = {
    file: 'not_a_directory',
    pipe: 'not_a_directory',
    link: 'symbolic_link',
    'link/': 'symbolic_link',
    none: 'path_not_found',
    '/proc/self': 'virtual_filesystem',
    '.git': 'git_directory',
    ['n'.repeat(300)]: 'path_invalid',
  };
  for (const [directory, code] of Object.entries(codes)) {
    expect([directory, (await find({ directory })).code]).toEqual([directory, code]);
  }
});

test('N15 an empty directory has no files and no cursor', async () => {
  const receipt = await find();
  expect([receipt.is_error, receipt.truncated, listed(receipt)]).toEqual([false, false, []]);
});

test('N12 F60 a directory that the operating system closes is counted, and the rest is listed', async () => {
  put('open/a');
  for (const name of ['closed-1', 'closed-2']) {
    put(`${name}/b`);
    chmodSync(join(session.project, name), 0o700);
  }
  const receipt = await asOrdinaryUser(() => look(session, 'FindFiles', {}));
  const root = process.getuid?.() === 0;
  expect(receipt.text.split('\n')[root ? 0 : 2]).toBe(join(session.project, 'open/a'));
  if (root) expect(namesNumber(receipt, 2)).toBe(true);
});
