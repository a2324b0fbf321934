import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sha256 } from '../../../src/base/sha256.ts';
import type { Receipt } from '../../../src/ledger/actions.ts';
import { asOrdinaryUser } from './support/as-ordinary-user.ts';
import { look } from './support/look.ts';
import { whileMeddling } from './support/meddler.ts';
import { peakBufferBytes } from './support/peak-memory.ts';
import { namesNumber, shownLines } from './support/receipts.ts';
import { makePlaces, openToolSession, type ToolSession } from './support/tool-session.ts';

const MAX_RECEIPT_BYTES = 48 * 1024;

let session: ToolSession;

beforeEach(() => {
  session = openToolSession();
});

afterEach(() => {
  session.dispose();
});

function put(name: string, content: string | Buffer, directory = session.project): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const read = (path: string, window: { offset?: number; limit?: number } = {}): Promise<Receipt> =>
  session.call('Read', { file_path: path, ...window });

/** Reads window after window, each from the line after the last one shown, as the closing note says. */
async function readAll(path: string, limit?: number): Promise<string[]> {
  const lines: string[] = [];
  for (;;) {
    const window = { offset: lines.length + 1, ...(limit === undefined ? {} : { limit }) };
    const receipt = await read(path, window);
    expect(receipt.code).toBeNull();
    expect(Buffer.byteLength(receipt.text)).toBeLessThanOrEqual(MAX_RECEIPT_BYTES);
    const shown = shownLines(receipt);
    expect([...shown.keys()]).toEqual([...shown.keys()].map((_, at) => lines.length + at + 1));
    expect(shown.size).toBeGreaterThan(0);
    lines.push(...shown.values());
    if (!receipt.truncated) return lines;
  }
}

test('N14 shows exactly the lines asked for, numbered from 1', async () => {
  const path = put('a.txt', 'one\ntwo\n\n  four\nfive');
  expect([...shownLines(await read(path, { offset: 2, limit: 3 }))]).toEqual([
    [2, 'two'],
    [3, ''],
    [4, '  four'],
  ]);
  const window = await read(path, { offset: 2, limit: 3 });
  // The note names the line to go on with, and none beyond it.
  expect([window.truncated, namesNumber(window, 5), namesNumber(window, 6)]).toEqual([
    true,
    true,
    false,
  ]);
  expect((await read(path, { offset: 2, limit: 4 })).truncated).toBe(false);
  expect((await read(path)).truncated).toBe(false);
  expect((await read(path, { offset: 6 })).code).toBe('offset_out_of_range');
});

test('N14 relative paths start at the working directory', async () => {
  mkdirSync(join(session.project, 'sub'));
  put('sub/a.txt', 'here');
  expect(shownLines(await read('sub/../sub//a.txt')).get(1)).toBe('here');
});

test('N12 reads a file outside the working directory', async () => {
  const path = put('b.txt', 'outside', session.outside);
  expect(shownLines(await read(path)).get(1)).toBe('outside');
  expect(shownLines(await read('../outside/b.txt')).get(1)).toBe('outside');
});

test('N14 N18 windows joined together give every line once, whatever the lines are', async () => {
  const line = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll(/[\n\r\0]/g, ' ')),
    fc.constant(''),
    fc.constant('\u{1f600}'.repeat(300)),
  );
  const texts = fc.array(line, { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 1, max: 20 }), async (lines, limit) => {
      const shown = lines.map((text) => text.replaceAll('\ufeff', ' '));
      const path = put('lines.txt', `${shown.join('\n')}\n`);
      expect(await readAll(path, limit)).toEqual(shown);
    }),
    { numRuns: 25 },
  );
});

test('N18 a window of short lines with long numbers and one long line stays within a receipt', async () => {
  const count = 1_000_000;
  const tail = Array.from({ length: 1_999 }, (_, at) => `line ${at} -----`.slice(0, 12));
  const path = put(
    'log.txt',
    `${'\n'.repeat(count)}${tail.join('\n')}\n${'x'.repeat(9_000)}\nend\n`,
  );
  const receipt = await read(path, { offset: count + 1 });
  expect(Buffer.byteLength(receipt.text)).toBeLessThanOrEqual(MAX_RECEIPT_BYTES);
  const last = [...shownLines(receipt).keys()].at(-1) ?? 0;
  // The note with the next offset is whole: the executor has cut nothing off.
  expect(namesNumber(receipt, last + 1)).toBe(true);
  expect(receipt.truncated).toBe(true);
});

test('N18 a receipt of wide characters is measured in bytes', async () => {
  const lines = Array.from({ length: 900 }, (_, at) => `${at} ${'한'.repeat(60)}`);
  expect(await readAll(put('wide.txt', `${lines.join('\n')}\n`))).toEqual(lines);
});

test('N18 a long line is cut at a character and the cut is announced with its length', async () => {
  const receipt = await read(put('long.txt', `${'한'.repeat(20_000)}\nnext\n`));
  expect(receipt.truncated).toBe(true);
  expect(namesNumber(receipt, 60_000)).toBe(true);
  expect(receipt.text).not.toContain('\ufffd');
  expect(shownLines(receipt).get(2)).toBe('next');
});

test('N14 an empty file and a file without a final line feed are read', async () => {
  const empty = await read(put('empty.txt', ''));
  expect(empty.is_error).toBe(false);
  expect(shownLines(empty).size).toBe(0);
  expect([...shownLines(await read(put('open.txt', 'a\nb')))]).toEqual([
    [1, 'a'],
    [2, 'b'],
  ]);
});

test('N20 F4 bytes: a whole read records the hash of the bytes seen, a windowed one too', async () => {
  const content = Buffer.from('\ufeffone\r\ntwo\n');
  const path = put('seen.txt', content);
  const [action] = session.authorize({ tool: 'Read', input: { file_path: path, limit: 1 } });
  if (action === undefined) throw new Error('nothing was authorised');
  await session.run(action);
  const { path: seen, afterSha256, state } = session.action(action);
  expect({ seen, afterSha256, state }).toEqual({
    seen: path,
    afterSha256: sha256(content),
    state: 'applied',
  });
});

test('N14 F52 a byte order mark is invisible in what is shown', async () => {
  expect(shownLines(await read(put('bom.txt', '\ufefffirst\nsecond\n'))).get(1)).toBe('first');
});

test('N14 F51 CRLF and mixed line ends are shown as lines', async () => {
  const receipt = await read(put('crlf.txt', 'a\r\nb\nc\r\n'));
  expect([...shownLines(receipt).values()]).toEqual(['a', 'b', 'c']);
});

test.each([
  ['a lone continuation byte', 'abc\n', '80', 4],
  ['an overlong form', 'ab', 'c0af', 2],
  ['a surrogate half', '한글\n', 'eda080', 7],
  ['a byte above U+10FFFF', 'x', 'f5808080', 1],
  ['a character that ends too early', 'é', 'e282', 2],
  ['Latin-1', 'caf', 'e9', 3],
])('N14 F53 invalid UTF-8 is refused with its position: %s', async (_what, before, hex, at) => {
  const receipt = await read(
    put('bad.txt', Buffer.concat([Buffer.from(before), Buffer.from(hex, 'hex')])),
  );
  expect(receipt.code).toBe('invalid_utf8');
  expect(namesNumber(receipt, at)).toBe(true);
});

test('N14 F53 a bad byte on a line that is not asked for is refused too', async () => {
  const bytes = Buffer.concat([
    Buffer.from(`${'ok\n'.repeat(500)}`),
    Buffer.from([0xff]),
    Buffer.from('\nend\n'),
  ]);
  const receipt = await read(put('bad.txt', bytes), { offset: 1, limit: 2 });
  expect(receipt.code).toBe('invalid_utf8');
  expect(namesNumber(receipt, 1_500)).toBe(true);
});

test('N14 F53 in a file too large to hold, a bad byte in a shown line is refused with its position', async () => {
  const row = `${'y'.repeat(99)}\n`;
  const bytes = Buffer.from(row.repeat(120_000));
  bytes[11_000_050] = 0xe9;
  const path = put('large.txt', bytes);
  const receipt = await read(path, { offset: 110_000, limit: 3 });
  expect(receipt.code).toBe('invalid_utf8');
  expect(namesNumber(receipt, 11_000_050)).toBe(true);
  expect([...shownLines(await read(path, { offset: 119_999 })).keys()]).toEqual([119_999, 120_000]);
});

test('N14 a binary file is refused with the position of the zero byte', async () => {
  const receipt = await read(put('bin', Buffer.from('abc\0def')));
  expect(receipt.code).toBe('binary_file');
  expect(namesNumber(receipt, 3)).toBe(true);
  const large = Buffer.alloc(11_000_000, 'a\n');
  large[10_700_001] = 0;
  const far = await read(put('large.bin', large), { offset: 5_400_000 });
  expect(far.code).toBe('binary_file');
  expect(namesNumber(far, 10_700_001)).toBe(true);
});

test('N14 T8 F59 F4 hanging: five reads of a FIFO at once, and the next read answers', async () => {
  const fifo = join(session.project, 'pipe');
  execFileSync('mkfifo', [fifo]);
  const path = put('a.txt', 'fine');
  const reads = await Promise.all(Array.from({ length: 5 }, () => read(fifo)));
  expect(reads.map(({ code }) => code)).toEqual(Array(5).fill('not_a_regular_file'));
  expect(shownLines(await read(path)).get(1)).toBe('fine');
});

test('N14 F59 a file that turns into a FIFO between the look and the opening stops nothing', async () => {
  const path = put('turns', 'text');
  const other = join(session.project, 'pipe');
  execFileSync('mkfifo', [other]);
  const codes = new Set<string>();
  await whileMeddling({ deed: 'swap', path, other }, async () => {
    for (let round = 0; round < 2_000; round += 1) codes.add(await tryRead(path));
  });
  expect([...codes].filter((code) => !['text', ...CODES_OF_A_SWAP].includes(code))).toEqual([]);
  expect(codes).toContain('not_a_regular_file');
  expect(await tryRead(path)).toBe('text');
});

const CODES_OF_A_SWAP = ['not_a_regular_file', 'path_not_found', 'symbolic_link', 'file_changed'];

/** The text of line 1, or the code of the refusal. */
async function tryRead(path: string): Promise<string> {
  const receipt = await look(session, 'Read', { file_path: path });
  return receipt.code ?? shownLines(receipt).get(1) ?? '';
}

test('N14 T7 T8 F4 hanging: endless and odd devices are refused, also through links', async () => {
  const link = join(session.project, 'zero');
  symlinkSync('/dev/zero', link);
  expect((await read(link)).code).toBe('symbolic_link');
  expect((await read('/dev/zero')).code).toBe('virtual_filesystem');
  expect((await read('/dev/fd/0')).code).toBe('virtual_filesystem');
  expect((await read('/proc/self/environ')).code).toBe('virtual_filesystem');
  expect((await read(`/proc/self/root${put('a.txt', 'x')}`)).code).toBe('virtual_filesystem');
  expect((await read(`/proc/${process.pid}/cwd/package.json`)).code).toBe('virtual_filesystem');
  expect((await read('/sys/kernel/notes')).code).toBe('virtual_filesystem');
  symlinkSync('/proc/self', join(session.project, 'self'));
  expect((await read('self/environ')).code).toBe('symbolic_link');
});

test('N14 a socket and a directory are refused', async () => {
  const path = join(session.project, 's');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  try {
    expect((await read(path)).code).toBe('not_a_regular_file');
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
  expect((await read(session.project)).code).toBe('not_a_regular_file');
});

test('N14 a sparse file of 1 TB is refused at its first hole, or shown up to it', async () => {
  const hole = put('hole', '');
  truncateSync(hole, 2 ** 40);
  expect((await read(hole)).code).toBe('binary_file');
  const path = join(session.project, 'head');
  const fd = openSync(path, 'w');
  writeSync(fd, 'line of text\n'.repeat(100_000));
  ftruncateSync(fd, 2 ** 40);
  closeSync(fd);
  expect(shownLines(await read(path, { limit: 2 })).size).toBe(2);
  expect((await read(path, { offset: 100_001 })).code).toBe('binary_file');
});

test('F61 F60 F4 hanging: one line of 96 MB is shown cut, with bounded memory', async () => {
  const path = join(session.project, 'line');
  const fd = openSync(path, 'w');
  const part = Buffer.alloc(8 * 1024 * 1024, 'abcdefgh');
  for (let count = 0; count < 12; count += 1) writeSync(fd, part);
  writeSync(fd, '\nsecond\n');
  closeSync(fd);
  const peak = await peakBufferBytes(async () => {
    const receipt = await read(path, { limit: 1 });
    expect(receipt.truncated).toBe(true);
    expect(shownLines(receipt).get(1)?.slice(0, 16)).toBe('abcdefghabcdefgh');
    expect(namesNumber(receipt, 12 * part.length)).toBe(true);
    expect(shownLines(await read(path, { offset: 2 })).get(2)).toBe('second');
  });
  expect(peak).toBeLessThan(24 * 1024 * 1024);
});

test('N14 a file that keeps growing is read to an end', async () => {
  const path = put('growing.log', 'x\n');
  await whileMeddling({ deed: 'append', path, text: 'a line\n'.repeat(1_000) }, async () => {
    for (let round = 0; round < 10; round += 1) expect((await read(path)).is_error).toBe(false);
  });
});

test('F55 N14 a Hangul name is found in either normalisation', async () => {
  const composed = '한글 파일.txt'.normalize('NFC');
  const decomposed = composed.normalize('NFD');
  put(decomposed, 'decomposed on disk');
  expect(shownLines(await read(composed)).get(1)).toBe('decomposed on disk');
  mkdirSync(join(session.project, '폴더'.normalize('NFD')));
  put(join('폴더'.normalize('NFD'), 'é.txt'.normalize('NFC')), 'deep');
  const twin = join('폴더'.normalize('NFC'), 'é.txt'.normalize('NFD'));
  expect(shownLines(await read(twin)).get(1)).toBe('deep');
});

test('F55 N14 where both normalisations exist, each name means its own file', async () => {
  const name = 'é.txt';
  put(name.normalize('NFC'), 'composed');
  put(name.normalize('NFD'), 'decomposed');
  expect(shownLines(await read(name.normalize('NFC'))).get(1)).toBe('composed');
  expect(shownLines(await read(name.normalize('NFD'))).get(1)).toBe('decomposed');
});

test('N14 names with line feeds, escapes and invisible characters are read as they are', async () => {
  for (const name of [
    'a\nb',
    'esc\x1b[2J',
    'rlo\u202etxt',
    'zero\u200bwidth',
    ' (deleted)',
    '-n',
  ]) {
    put(name, `in ${name.length}`);
    expect(shownLines(await read(name)).get(1)).toBe(`in ${name.length}`);
  }
});

test('N14 T2 F57 symbolic links are not followed, whether last, on the way, dangling or looped', async () => {
  const target = put('real.txt', 'secret', session.outside);
  symlinkSync(target, join(session.project, 'file-link'));
  symlinkSync(session.outside, join(session.project, 'directory-link'));
  symlinkSync(join(session.outside, 'none'), join(session.project, 'dangling'));
  symlinkSync('loop', join(session.project, 'loop'));
  for (const path of ['file-link', 'directory-link/real.txt', 'dangling', 'loop', 'loop/x']) {
    const receipt = await read(path);
    expect([path, receipt.code]).toEqual([path, 'symbolic_link']);
    expect(receipt.text).not.toContain('secret');
  }
});

test('N14 F57 the name of a link target cannot write control characters into the answer', async () => {
  const target = put('x\n[forged note]\x1b[2J\u202e', 'x', session.outside);
  symlinkSync(target, join(session.project, 'link'));
  const { code, text } = await read('link');
  expect(code).toBe('symbolic_link');
  expect(['\n', '\x1b', '\u202e'].filter((character) => text.includes(character))).toEqual([]);
});

test('N12 F57 protected files are refused under every name', async () => {
  const keys = join(session.home, '.ssh');
  mkdirSync(keys);
  const key = put('id_ed25519', 'KEY', keys);
  linkSync(key, join(session.project, 'hard-link'));
  const dotfiles = join(session.outside, 'dotfiles');
  mkdirSync(dotfiles);
  const real = put('id_linked', 'KEY', dotfiles);
  symlinkSync(real, join(keys, 'id_linked'));
  for (const name of ['.env', '.env.local', 'server.pem', 'vault.kdbx', 'x.tfstate'])
    put(name, 'KEY');
  const closed = [
    key,
    'hard-link',
    real,
    '.env',
    '.env.local',
    'server.pem',
    'vault.kdbx',
    'x.tfstate',
  ];
  for (const path of [...closed, join(session.state, 'state.db')]) {
    const receipt = await read(path);
    expect([path, receipt.code]).toEqual([path, 'protected_path']);
    expect(receipt.text).not.toContain('KEY');
  }
  // Names that only begin or end like closed ones are open.
  for (const path of ['.env.example', '.envrc', 'pem', 'x.pem.md']) {
    expect(shownLines(await read(put(path, 'harmless'))).get(1)).toBe('harmless');
  }
  for (const path of ['.ssh-notes', '.npmrc.md']) {
    expect(shownLines(await read(put(path, 'harmless', session.home))).get(1)).toBe('harmless');
  }
});

test('N12 a home and a state directory that are named through links or oddly are protected all the same', async () => {
  const places = makePlaces();
  symlinkSync(places.home, join(places.root, 'home-link'));
  symlinkSync(places.state, join(places.root, 'state-link'));
  mkdirSync(join(places.home, '.claude'));
  writeFileSync(join(places.home, '.claude', '.credentials.json'), 'KEY');
  for (const [home, state] of [
    [join(places.root, 'home-link'), join(places.root, 'state-link')],
    [`${places.root}/outside/../home/`, `${places.root}/outside/../state/`],
  ] as const) {
    const other = openToolSession({ places: { ...places, state: places.state }, home, state });
    try {
      const credentials = join(places.home, '.claude', '.credentials.json');
      const codes = [credentials, join(places.state, 'state.db')].map(
        async (path) => (await other.call('Read', { file_path: path })).code,
      );
      expect(await Promise.all(codes)).toEqual(['protected_path', 'protected_path']);
    } finally {
      other.database.close();
    }
  }
  openToolSession({ places, home: places.home }).dispose();
});

test('N17 N14 nothing inside .git is read, in any spelling', async () => {
  mkdirSync(join(session.project, '.git'));
  put('.git/config', 'x');
  mkdirSync(join(session.project, 'worktree'));
  put('worktree/.git', 'gitdir: elsewhere');
  for (const path of ['.git/config', '.GIT/config', 'worktree/.git', 'worktree/../.git/config']) {
    expect([path, (await read(path)).code]).toEqual([path, 'git_directory']);
  }
  expect(shownLines(await read(put('.gitignore', 'dist'))).get(1)).toBe('dist');
});

test('N12 what the operating system denies is an error with its own code', async () => {
  const path = put('private.txt', 'x');
  chmodSync(path, 0o600);
  mkdirSync(join(session.project, 'closed'), { mode: 0o700 });
  put('closed/a.txt', 'x');
  const codes = await asOrdinaryUser(() =>
    Promise.all([tryRead(path), tryRead(join(session.project, 'closed/a.txt'))]),
  );
  const denied = process.getuid?.() === 0 ? 'permission_denied' : 'x';
  expect(codes).toEqual([denied, denied]);
});

test('N14 names that name nothing are refused with a code', async () => {
  put('file', 'x');
  const codes = {
    none: 'path_not_found',
    'file/below': 'path_not_found',
    '': 'path_invalid',
    'zero\0byte': 'path_invalid',
    ['n'.repeat(300)]: 'path_invalid',
    ['deep/'.repeat(1_000)]: 'path_invalid',
  };
  for (const [path, code] of Object.entries(codes)) {
    expect([basename(path).slice(0, 20), (await read(path)).code]).toEqual([
      basename(path).slice(0, 20),
      code,
    ]);
  }
});

test('N14 F4 concurrency: a file that an editor replaces is read as the old, the new, or not at all', async () => {
  const path = put('replaced', 'old');
  const other = put('new', 'new');
  const seen = new Set<string>();
  await whileMeddling({ deed: 'swap', path, other }, async () => {
    for (let round = 0; round < 1_500; round += 1) seen.add(await tryRead(path));
  });
  // No link was ever there, so none is blamed.
  expect(
    [...seen].filter((what) => !['old', 'new', 'path_not_found', 'file_changed'].includes(what)),
  ).toEqual([]);
  expect(seen).toContain('old');
});

test('N14 T5 F57 a directory swapped for a link to elsewhere never shows a byte of elsewhere', async () => {
  const directory = join(session.project, 'swapped');
  mkdirSync(directory);
  put('swapped/file', 'inside');
  put('file', 'OUTSIDE', session.outside);
  const other = join(session.project, 'link');
  symlinkSync(session.outside, other);
  const path = join(directory, 'file');
  const seen = new Map<string, number>();
  await whileMeddling({ deed: 'swap', path: directory, other }, async () => {
    for (let round = 0; round < 3_000; round += 1) {
      const what = await tryRead(path);
      seen.set(what, (seen.get(what) ?? 0) + 1);
    }
  });
  expect([...seen.keys()].filter((what) => !['inside', ...CODES_OF_A_SWAP].includes(what))).toEqual(
    [],
  );
  // The swaps really fell between the steps of reading, or the test has shown nothing.
  expect(seen.get('inside')).toBeGreaterThan(0);
  expect((seen.get('symbolic_link') ?? 0) + (seen.get('file_changed') ?? 0)).toBeGreaterThan(0);
});
