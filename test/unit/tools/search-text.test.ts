import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/canonical-json.ts';
import type { Receipt } from '../../../src/ledger/actions.ts';
import { checkToolCall } from '../../../src/tools/tool-set.ts';
import { asOrdinaryUser } from './support/as-ordinary-user.ts';
import { expectedWalk } from './support/expected-walk.ts';
import { look } from './support/look.ts';
import { whileMeddling } from './support/meddler.ts';
import { peakBufferBytes } from './support/peak-memory.ts';
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

function put(name: string, content: string | Buffer, directory = session.project): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

type Input = { [parameter: string]: string | number | boolean };

const search = (query: string, rest: Input = {}): Promise<Receipt> =>
  session.call('SearchText', { query, ...rest });

/** Matching lines as `name:line:text`, context lines as `name-line-text`, names relative to the project. */
const hits = (receipt: Receipt): string[] =>
  listed(receipt).map((line) => line.slice(session.project.length + 1));

/** What a search has to find: path, line and text of every line that contains the text, in order. */
function expectedHits(query: string, directory = session.project): string[] {
  return expectedWalk(directory).flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, at) => (line.includes(query) ? [`${path}:${at + 1}:${line}`] : [])),
  );
}

const codeOf = async (query: string, rest: Input = {}): Promise<string | null> =>
  (await search(query, rest)).code;

test('N16 the query is literal: no expression, no wildcard, no option', async () => {
  put('a', 'a.b*c\naxbxc\n[x]\n^start$\n\\d+\n--files\n(unclosed\n$HOME\n{a,b}\n');
  const expected: Record<string, string[]> = {
    'a.b*c': ['a:1:a.b*c'],
    '.': ['a:1:a.b*c'],
    '[x]': ['a:3:[x]'],
    '^start$': ['a:4:^start$'],
    '\\d+': ['a:5:\\d+'],
    '--files': ['a:6:--files'],
    '(unclosed': ['a:7:(unclosed'],
    $HOME: ['a:8:$HOME'],
    '{a,b}': ['a:9:{a,b}'],
    '*': ['a:1:a.b*c'],
  };
  for (const [query, found] of Object.entries(expected)) {
    expect([query, hits(await search(query))]).toEqual([query, found]);
  }
});

test('N16 case counts, unless it is switched off, also beyond ASCII', async () => {
  put('a', 'Straße ÄÖÜ\nstraße äöü\nΣΊΣΥΦΟΣ\nσίσυφος\n');
  expect(hits(await search('Straße'))).toEqual(['a:1:Straße ÄÖÜ']);
  expect(hits(await search('äöü'))).toEqual(['a:2:straße äöü']);
  expect(hits(await search('äöü', { case_sensitive: false }))).toHaveLength(2);
  expect(hits(await search('ΣΊΣΥΦΟΣ', { case_sensitive: false }))).toHaveLength(2);
  expect(hits(await search('ÄÖÜ', { case_sensitive: true }))).toHaveLength(1);
});

test('F4 search honesty: of 137 hits none is lost and the total is said on every page', async () => {
  for (let file = 0; file < 10; file += 1) {
    const lines = Array.from({ length: 20 }, (_, at) => (file * 20 + at < 137 ? 'needle' : 'hay'));
    put(`d${file % 3}/f${file}`, lines.join('\n'));
  }
  const pages = await allPages(session, 'SearchText', { query: 'needle' });
  expect(pages.map(({ truncated }) => truncated)).toEqual([true, false]);
  expect(pages.flatMap(listed)).toEqual(expectedHits('needle'));
  expect(pages.flatMap(listed)).toHaveLength(137);
  for (const page of pages) expect(namesNumber(page, 137)).toBe(true);
});

test('N16 N18 pages joined together are all matching lines once and in order, whatever the page size', async () => {
  const files = fc.dictionary(
    fc.constantFrom(
      'a',
      'a.b',
      'a-b',
      'd/a',
      'd/e/f',
      'd.e',
      'é',
      '한/글',
      'z\nz',
      '--',
      'x\n--\ny',
    ),
    fc.array(fc.constantFrom('needle', 'hay', 'a needle b', '', 'Needle', '--', 'needle:1:needle')),
    { minKeys: 1 },
  );
  await fc.assert(
    fc.asyncProperty(
      files,
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 0, max: 3 }),
      async (all, limit, context_lines) => {
        rmSync(session.project, { recursive: true });
        mkdirSync(session.project);
        for (const [name, lines] of Object.entries(all)) put(name, lines.join('\n'));
        const pages = await allPages(session, 'SearchText', {
          query: 'needle',
          limit,
          context_lines,
        });
        const escaped = expectedHits('needle').map((hit) => hit.replaceAll('\n', '\\u{a}'));
        expect(pages.flatMap(listed).filter((line) => /:\d+:[^:]*needle/.test(line))).toEqual(
          escaped,
        );
        for (const page of pages) expect(namesNumber(page, escaped.length)).toBe(true);
      },
    ),
    { numRuns: 12 },
  );
});

test('F60 N16 in 20,000 files every hit is found once and in order', async () => {
  for (let directory = 0; directory < 100; directory += 1) {
    mkdirSync(join(session.project, `d${directory}`));
    for (let file = 0; file < 200; file += 1) {
      const text = (directory * 7 + file) % 8 === 0 ? 'hay\nneedle\n' : 'hay\n';
      writeFileSync(join(session.project, `d${directory}`, `f${file}`), text);
    }
  }
  const expected = expectedHits('needle');
  expect(expected).toHaveLength(2_500);
  const pages = await allPages(session, 'SearchText', { query: 'needle', limit: 500 });
  expect(pages.flatMap(listed)).toEqual(expected);
  expect(namesNumber(required(pages[1]), 2_500)).toBe(true);
});

test('N16 context lines stand around their matches and are told apart from them', async () => {
  put('a', '1\n2\nneedle\n4\n5\n6\n7\nneedle\n9\n');
  expect(hits(await search('needle', { context_lines: 1 }))).toEqual([
    'a-2-2',
    'a:3:needle',
    'a-4-4',
    'a-7-7',
    'a:8:needle',
    'a-9-9',
  ]);
  const pages = await allPages(session, 'SearchText', {
    query: 'needle',
    context_lines: 1,
    limit: 1,
  });
  expect(pages.map((page) => hits(page).filter((line) => line.includes(':')))).toEqual([
    ['a:3:needle'],
    ['a:8:needle'],
  ]);
});

test('N16 F51 a CRLF line is found and shown without its line end', async () => {
  put('a', 'one needle\r\ntwo\r\n');
  expect(hits(await search('needle'))).toEqual(['a:1:one needle']);
});

test('N16 F52 a byte order mark is invisible', async () => {
  put('a', '\ufeffneedle\n');
  expect(hits(await search('needle'))).toEqual(['a:1:needle']);
});

test('N16 one file can be searched, inside and outside the working directory', async () => {
  put('a', 'needle\n');
  put('b', 'needle\n');
  const there = put('c', 'needle\n', session.outside);
  expect(hits(await search('needle', { path: 'b' }))).toEqual(['b:1:needle']);
  expect(listed(await search('needle', { path: there }))).toEqual([`${there}:1:needle`]);
});

test('N17 ignored and hidden files are searched; .git, links and pipes are not', async () => {
  for (const name of ['.gitignore', '.rgignore', '.hidden', 'dist/x']) put(name, '*\nneedle\n');
  for (const name of ['.git/config', 'sub/.git', 'deep/.GIT/x']) put(name, 'needle\n');
  put('secret', 'needle\n', session.outside);
  symlinkSync(session.outside, join(session.project, 'directory-link'));
  symlinkSync(join(session.outside, 'secret'), join(session.project, 'file-link'));
  symlinkSync('.', join(session.project, 'loop'));
  execFileSync('mkfifo', [join(session.project, 'pipe')]);
  const receipt = await search('needle');
  expect(hits(receipt)).toEqual([
    '.gitignore:2:needle',
    '.hidden:2:needle',
    '.rgignore:2:needle',
    'dist/x:2:needle',
  ]);
  expect(namesNumber(receipt, 4)).toBe(true);
});

test('N17 protected files are neither shown nor counted, under none of their names', async () => {
  const keys = join(session.home, '.ssh');
  put('id', 'needle\n', keys);
  linkSync(join(keys, 'id'), join(session.project, 'hard-link'));
  const real = put('dotfiles/key', 'needle\n', session.outside);
  symlinkSync(real, join(keys, 'linked'));
  for (const name of ['.env', 'server.pem']) put(name, 'needle\n');
  put('open', 'needle\n');
  const receipt = await search('needle', { path: session.root });
  expect(listed(receipt)).toEqual([join(session.project, 'open:1:needle')]);
  expect(namesNumber(receipt, 1)).toBe(true);
  for (const path of [keys, real, 'hard-link', '.env', join(session.state, 'state.db')]) {
    expect([path, await codeOf('needle', { path })]).toEqual([path, 'protected_path']);
  }
});

test('N17 a forged cursor tells nothing of a protected file', async () => {
  const key = put('.ssh/id', 'needle\n', session.home);
  for (const name of ['a', 'b', 'c']) put(name, 'needle\n');
  const first = await search('needle', { limit: 1 });
  const cursor = Buffer.from(required(cursorOf(first)), 'base64url').toString('latin1');
  expect(cursor).toContain(join(session.project, 'a'));
  const answers = [key, join(session.home, '.ssh/none')].map(async (path) => {
    const forged = cursor.replace(/:\d+:.*$/s, `:9:${path}`);
    const receipt = await search('needle', {
      limit: 1,
      cursor: Buffer.from(forged, 'latin1').toString('base64url'),
    });
    return { ...receipt, text: listed(receipt) };
  });
  const [protectedFile, noFile] = await Promise.all(answers);
  expect(protectedFile).toEqual(noFile);
});

test('N16 a cursor belongs to its question', async () => {
  put('a', 'needle\nneedle\nNEEDLE\n');
  const cursor = required(cursorOf(await search('needle', { limit: 1 })));
  expect(hits(await search('needle', { cursor }))).toEqual(['a:2:needle']);
  expect(await codeOf('needle', { cursor, case_sensitive: false })).toBe('cursor_invalid');
  expect(await codeOf('needl', { cursor })).toBe('cursor_invalid');
  expect(await codeOf('needle', { cursor: 'AAAA' })).toBe('cursor_invalid');
});

test('N18 a page of wide characters, context and long names stays within a receipt and can be followed', async () => {
  const wide = '한'.repeat(390);
  const lines = Array.from({ length: 400 }, (_, at) =>
    at % 2 === 0 ? `needle ${at} ${wide}` : wide,
  );
  put('wide', lines.join('\n'));
  for (const context_lines of [0, 1]) {
    const query = { query: 'needle', limit: 500, context_lines };
    const pages = await allPages(session, 'SearchText', query, (page) => {
      expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(MAX_RECEIPT_BYTES);
    });
    expect(pages.length).toBeGreaterThan(1);
    const found = pages.flatMap(hits).flatMap((hit) => /^wide:(\d+):needle/.exec(hit)?.[1] ?? []);
    expect(found.map(Number)).toEqual(Array.from({ length: 200 }, (_, at) => at * 2 + 1));
  }
});

test('N18 names that grow when escaped neither break the limit nor the cursor', async () => {
  const deep = Array.from({ length: 14 }, () => '\x1b'.repeat(200)).join('/');
  for (const name of ['a', 'b', 'c', 'd'])
    put(join(deep, name), `${'before\n'.repeat(9)}needle\n${'after\n'.repeat(9)}`);
  for (const context_lines of [0, 9]) {
    const pages = await allPages(session, 'SearchText', { query: 'needle', context_lines });
    for (const page of pages)
      expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(MAX_RECEIPT_BYTES);
    expect(pages.flatMap(listed).filter((line) => line.endsWith(':10:needle'))).toHaveLength(4);
  }
});

test('N18 a matching line of extreme length or shape is shown cut, and the lines after it are found', async () => {
  const stacked = (count: number): string => `needle e${'\u0301'.repeat(count)}`;
  put('a', `${'x'.repeat(300_000)} needle\n${stacked(20_000)}\nneedle after\n`);
  const receipt = await search('needle');
  expect(Buffer.byteLength(receipt.text)).toBeLessThanOrEqual(MAX_RECEIPT_BYTES);
  expect(hits(receipt).map((hit) => hit.slice(0, 4))).toEqual(['a:1:', 'a:2:', 'a:3:']);
  // A line that cannot be shown even in part is counted, and what is missing is announced.
  put('a', `${stacked(60_000)}\nneedle after\n`);
  const short = await search('needle');
  expect(hits(short)).toEqual(['a:2:needle after']);
  expect([short.truncated, namesNumber(short, 2)]).toEqual([true, true]);
});

test('N18 F60 a file whose name is not UTF-8 hides no other match, and is counted apart', async () => {
  const odd = Buffer.concat([Buffer.from(`${session.project}/m`), Buffer.from([0xff])]);
  writeFileSync(odd, 'needle\nneedle\n');
  put('a', 'needle\n');
  put('z', 'needle\n');
  const pages = await allPages(session, 'SearchText', { query: 'needle', limit: 1 });
  expect(pages.flatMap(hits)).toEqual(['a:1:needle', 'z:1:needle']);
  expect(pages.map(({ truncated }) => truncated)).toEqual([true, false]);
  for (const page of pages) expect(namesNumber(page, 2)).toBe(true);
});

test('N16 F53 text next to bytes that are not UTF-8 is found', async () => {
  put(
    'a',
    Buffer.concat([Buffer.from([0xff, 0x0a]), Buffer.from('needle\n'), Buffer.from([0xe9])]),
  );
  expect(hits(await search('needle'))).toEqual(['a:2:needle']);
});

test('N17 binary files are left out below a directory and refused by name', async () => {
  put('early', Buffer.from('needle\n\0needle\n'));
  const late = put('late', `${'needle\n'.repeat(40_000)}\0\nneedle\n`);
  put('text', 'needle\n');
  const receipt = await search('needle');
  expect(hits(receipt)).toEqual(['text:1:needle']);
  expect(namesNumber(receipt, 1)).toBe(true);
  expect(await codeOf('needle', { path: 'early' })).toBe('binary_file');
  expect(await codeOf('needle', { path: late })).toBe('binary_file');
});

test('F60 F61 a file that is one line of 80 MB is searched by name, in bounded memory', async () => {
  const path = put('line', '');
  const fd = openSync(path, 'w');
  const part = Buffer.alloc(8 * 1024 * 1024, 'abcdefgh');
  for (let count = 0; count < 10; count += 1) writeSync(fd, part);
  writeSync(fd, 'needle\nsecond needle\n');
  closeSync(fd);
  const peak = await peakBufferBytes(async () => {
    const receipt = await search('needle', { path });
    expect(namesNumber(receipt, 2)).toBe(true);
    expect(hits(receipt).map((hit) => hit.slice(0, 14))).toEqual([
      'line:1:abcdefg',
      'line:2:second ',
    ]);
    expect(Buffer.byteLength(receipt.text)).toBeLessThan(4_096);
  });
  expect(peak).toBeLessThan(24 * 1024 * 1024);
});

test('N14 T8 F60 a sparse file of 1 TB is refused by name and skipped below a directory', async () => {
  const path = put('sparse', 'needle\n');
  truncateSync(path, 2 ** 40);
  put('text', 'needle\n');
  expect(hits(await search('needle'))).toEqual(['text:1:needle']);
  expect(await codeOf('needle', { path })).toBe('binary_file');
});

test('N14 F59 pipes, devices and links are refused by name and stop nothing', async () => {
  execFileSync('mkfifo', [join(session.project, 'pipe')]);
  symlinkSync('/dev/zero', join(session.project, 'zero'));
  put('there', 'needle\n', session.outside);
  symlinkSync(session.outside, join(session.project, 'out'));
  put('text', 'needle\n');
  const codes = {
    pipe: 'not_a_regular_file',
    zero: 'symbolic_link',
    out: 'symbolic_link',
    'out/there': 'symbolic_link',
    '/dev/zero': 'virtual_filesystem',
    '/proc/self/environ': 'virtual_filesystem',
    'text/below': 'path_not_found',
    none: 'path_not_found',
    '.git/config': 'git_directory',
    ['n'.repeat(300)]: 'path_invalid',
  };
  for (const [path, code] of Object.entries(codes)) {
    expect([path, await codeOf('needle', { path })]).toEqual([path, code]);
  }
  expect(hits(await search('needle'))).toEqual(['text:1:needle']);
});

test('F55 N16 a file is searched under either normalisation of its name', async () => {
  const name = '한글.txt';
  put(name.normalize('NFD'), 'needle\n');
  expect(hits(await search('needle', { path: name.normalize('NFC') }))).toEqual([
    `${name.normalize('NFD')}:1:needle`,
  ]);
});

test('N12 what the operating system denies is an error with its own code, or counted', async () => {
  put('closed/a', 'needle\n');
  put('private', 'needle\n');
  put('open', 'needle\n');
  chmodSync(join(session.project, 'closed'), 0o700);
  chmodSync(join(session.project, 'private'), 0o600);
  const root = process.getuid?.() === 0;
  const denied = root ? 'permission_denied' : null;
  await asOrdinaryUser(async () => {
    for (const path of ['closed/a', 'closed', 'private']) {
      const { code } = await look(session, 'SearchText', { query: 'needle', path });
      expect([path, code]).toEqual([path, denied]);
    }
    const receipt = await look(session, 'SearchText', { query: 'not there' });
    if (root) expect(namesNumber(receipt, 2)).toBe(true);
  });
});

test('N16 a query of more than one line, an empty one and unknown parameters are refused before anything runs', () => {
  const inputs: JsonObject[] = [
    { query: 'a\nb' },
    { query: 'a\r' },
    { query: '' },
    { query: 'a\0' },
    { query: 'a', regex: true },
    { query: '\ud800' },
  ];
  for (const input of inputs) {
    expect(() => checkToolCall('read_only', { tool: 'SearchText', input }, 0)).toThrow(
      expect.objectContaining({ code: 'tool_call_invalid' }),
    );
  }
});

const CODES_OF_A_SWAP = [
  'file_changed',
  'symbolic_link',
  'path_not_found',
  'not_a_directory',
  'not_a_regular_file',
];

test('N17 F57 a directory swapped for a link into a protected place shows and counts nothing of it', async () => {
  const directory = join(session.project, 'swapped');
  put('swapped/file', 'needle inside\n');
  put('.ssh/file', 'needle OUTSIDE\n'.repeat(70), session.home);
  const other = join(session.project, 'link');
  symlinkSync(join(session.home, '.ssh'), other);
  const outcomes = new Set<string>();
  await whileMeddling({ deed: 'swap', path: directory, other }, async () => {
    for (let round = 0; round < 30; round += 1) {
      for (const path of [directory, join(directory, 'file')]) {
        const { code, text } = await search('needle', { path });
        outcomes.add(
          code ?? (/OUTSIDE|\b7[01] /.test(text) ? 'outside bytes' : 'nothing of outside'),
        );
      }
    }
  });
  expect(
    [...outcomes].filter((what) => !['nothing of outside', ...CODES_OF_A_SWAP].includes(what)),
  ).toEqual([]);
  expect(outcomes.has('symbolic_link') || outcomes.has('file_changed')).toBe(true);
});

test('N16 a file that grows while it is searched is searched to an end', async () => {
  const path = put('growing', 'needle\n');
  await whileMeddling({ deed: 'append', path, text: 'needle\n' }, async () => {
    for (let round = 0; round < 5; round += 1) {
      const receipt = await search('needle', { limit: 10 });
      expect([receipt.is_error, receipt.truncated, listed(receipt).length]).toEqual([
        false,
        true,
        10,
      ]);
      appendFileSync(path, 'needle\n');
    }
  });
});
