import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/canonical-json.ts';
import type { Receipt } from '../../../src/ledger/actions.ts';
import { checkToolCall } from '../../../src/tools/tool-set.ts';
import { whileMeddling } from './support/meddler.ts';
import { namesNumber } from './support/receipts.ts';
import { openToolSession, type ToolSession } from './support/tool-session.ts';

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

interface EditInput {
  readonly old: string;
  readonly new: string;
  readonly all?: boolean;
}

const edit = (path: string, change: EditInput): Promise<Receipt> =>
  session.call('Edit', {
    file_path: path,
    old_string: change.old,
    new_string: change.new,
    ...(change.all === undefined ? {} : { replace_all: change.all }),
  });

let files = 0;
/** Edits a new file of the given content and returns its bytes afterwards, as text. */
async function edited(content: string, change: EditInput): Promise<string> {
  files += 1;
  const path = put(`file-${files}.txt`, content);
  const receipt = await edit(path, change);
  expect(receipt.code).toBeNull();
  return readFileSync(path, 'utf8');
}

/** Expects the refusal, and that not a byte, nor the file itself, has changed. */
async function expectRefused(path: string, change: EditInput, code: string): Promise<Receipt> {
  const before = { bytes: readFileSync(path), ino: statSync(path).ino };
  const receipt = await edit(path, change);
  expect([path, receipt.code]).toEqual([path, code]);
  expect({ bytes: readFileSync(path), ino: statSync(path).ino }).toEqual(before);
  return receipt;
}

test('N19 replaces exact text that occurs once, and nothing else', async () => {
  expect(await edited('a\n  b\nc\n', { old: '  b', new: '\tb2' })).toBe('a\n\tb2\nc\n');
  expect(await edited('one', { old: 'one', new: '' })).toBe('');
  expect(await edited('a b c', { old: ' b ', new: '$& $1 $$ \\n' })).toBe('a$& $1 $$ \\nc');
  expect(await edited('x한글y', { old: '한', new: '😀' })).toBe('x😀글y');
});

test('N19 F4 bytes: text that occurs more than once is refused, unless all of it is meant', async () => {
  const path = put('a.txt', 'x\ny\nx\n');
  const receipt = await expectRefused(path, { old: 'x', new: 'z' }, 'text_not_unique');
  expect(namesNumber(receipt, 2)).toBe(true);
  expect((await edit(path, { old: 'x', new: 'z', all: true })).code).toBeNull();
  expect(readFileSync(path, 'utf8')).toBe('z\ny\nz\n');
});

test('N19 F4 bytes: occurrences that overlap are more than one', async () => {
  const path = put('a.txt', '}\n}\n}\n');
  await expectRefused(path, { old: '}\n}\n', new: 'end\n' }, 'text_not_unique');
  expect(await edited('aaaa', { old: 'aa', new: 'b', all: true })).toBe('bb');
});

test('N19 text that does not occur is refused', async () => {
  const path = put('a.txt', 'tab\tand  spaces\n');
  for (const old of ['tab and  spaces', 'tab\tand spaces', 'TAB', 'spaces\n\n', '1\ttab']) {
    await expectRefused(path, { old, new: 'x' }, 'text_not_found');
  }
});

test('N19 an edit that would change nothing is refused', async () => {
  const path = put('a.txt', 'a\nb\n');
  await expectRefused(path, { old: 'a', new: 'a' }, 'edit_changes_nothing');
  await expectRefused(path, { old: 'a\nb\n', new: 'a\r\nb\r\n' }, 'edit_changes_nothing');
});

test('N19 F51 an edit of a CRLF file touches only the changed lines', async () => {
  expect(await edited('a\r\nb\r\nc\r\n', { old: 'a\nb\n', new: 'a\nB\nB2\n' })).toBe(
    'a\r\nB\r\nB2\r\nc\r\n',
  );
  expect(await edited('a\r\nb\r\nc', { old: 'b\nc', new: 'b\nc\nd' })).toBe('a\r\nb\r\nc\r\nd');
  expect(await edited('a\r\nb\r\n', { old: 'a\nb', new: 'ab' })).toBe('ab\r\n');
  expect(await edited('a\r\nb\r\n', { old: '\nb', new: '' })).toBe('a\r\n');
  expect(await edited('a\r\nb\r\n', { old: 'a\r\nb', new: 'a\r\nc' })).toBe('a\r\nc\r\n');
});

test('N19 F51 in a file of mixed line ends every line that stays keeps its own', async () => {
  const mixed = 'one\r\ntwo\nthree\r\nfour\nfive';
  expect(await edited(mixed, { old: 'two', new: '2' })).toBe('one\r\n2\nthree\r\nfour\nfive');
  expect(await edited(mixed, { old: 'one\ntwo\nthree\nfour', new: 'one\ntwo\n3\nfour' })).toBe(
    'one\r\ntwo\n3\r\nfour\nfive',
  );
  // A line in the middle stays, with changed ones on both sides.
  expect(await edited(mixed, { old: 'one\ntwo\nthree', new: '1\ntwo\n3' })).toBe(
    '1\r\ntwo\n3\r\nfour\nfive',
  );
  // Also where lines are added before it.
  expect(await edited('a\r\nb\nc\r\nd\n', { old: 'a\nb\nc\nd', new: 'A\nA2\nb\nC\nd' })).toBe(
    'A\r\nA2\r\nb\nC\r\nd\n',
  );
  // A changed line is still the same line of the file.
  expect(await edited(mixed, { old: 'two\nthree\nfour', new: '2\n3\n4' })).toBe(
    'one\r\n2\n3\r\n4\nfive',
  );
  expect(await edited(mixed, { old: 'two\nthree\n', new: '' })).toBe('one\r\nfour\nfive');
  expect(await edited('a\r\nx\nb\r\nx\nc\n', { old: 'x\n', new: 'y\nz\n', all: true })).toBe(
    'a\r\ny\nz\nb\r\ny\nz\nc\n',
  );
});

test('N19 F51 replace-all in a file of mixed line ends touches only the lines that have the text', async () => {
  const all = { old: 'x', new: 'y', all: true };
  expect(await edited('x\r\nx\nq\r\nx\rx\n', all)).toBe('y\r\ny\nq\r\ny\ry\n');
  expect(await edited('x\r\nq\nx\nq\r\n', { old: 'x\nq', new: 'x\nr\nq', all: true })).toBe(
    'x\r\nr\nq\nx\nr\r\nq\r\n',
  );
});

test('N19 F51 line ends in the text given do not decide over those of the file', async () => {
  expect(await edited('a\nb\nc\n', { old: 'a\r\nb', new: 'a\r\nB\r\nB2' })).toBe('a\nB\nB2\nc\n');
  expect(await edited('a\rb\nc', { old: 'a\rb', new: 'a\rB' })).toBe('a\rB\nc');
});

test('N19 F51 whatever the line ends are, lines outside the edit keep their bytes and the text is as asked for', async () => {
  const end = fc.constantFrom('\n', '\r\n');
  const line = fc.tuple(fc.constantFrom('a', 'b', 'c', '', '  x  '), end);
  const fresh = fc.array(fc.constantFrom('a', 'b', 'n', ''), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 4 }),
      fc.array(line, { minLength: 1, maxLength: 4 }),
      fc.array(line, { maxLength: 4 }),
      fresh,
      async (head, touched, tail, lines) => {
        const text = (part: readonly (readonly [string, string])[]): string => part.flat().join('');
        const lf = (part: readonly (readonly [string, string])[]): string =>
          text(part).replaceAll('\r\n', '\n');
        const old = `>${lf(touched)}`;
        const replacement = lines.map((each) => `${each}\n`).join('');
        fc.pre(old !== replacement);
        files += 1;
        const path = put(`file-${files}.txt`, `${text(head)}>${text(touched)}${text(tail)}`);
        expect((await edit(path, { old, new: replacement })).code).toBeNull();
        const after = readFileSync(path, 'utf8');
        expect(after.startsWith(text(head))).toBe(true);
        expect(after.endsWith(text(tail))).toBe(true);
        const middle = after.slice(text(head).length, after.length - text(tail).length);
        expect(middle.replaceAll('\r\n', '\n')).toBe(replacement);
        // Where no line stays, each new line stands for one of the old ones.
        const stays = lines.some((each) => touched.some(([text]) => text === each));
        if (!stays && lines.length === touched.length) {
          const ends = middle.match(/\r?\n/g) ?? [];
          expect(ends).toEqual(touched.map(([, each]) => each));
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('N19 F52 a byte order mark stays and is invisible to matching', async () => {
  expect(await edited('\ufeffone\ntwo\n', { old: 'one', new: '1' })).toBe('\ufeff1\ntwo\n');
  expect(await edited('\ufeffone\ntwo\n', { old: 'one\ntwo\n', new: '' })).toBe('\ufeff');
  expect(await edited('\ufeffone\r\ntwo', { old: '\ufeffone', new: '\ufeff1' })).toBe(
    '\ufeff1\r\ntwo',
  );
  expect(await edited('\ufeffone\n', { old: '\ufeffone', new: '1' })).toBe('\ufeff1\n');
  await expectRefused(put('bom', '\ufeffone'), { old: '\ufeff', new: 'x' }, 'text_not_found');
});

test('N19 F53 a file with a byte that is not UTF-8 on another line is refused with its position', async () => {
  const path = put('latin1.txt', Buffer.from('one\ncaf\xe9\ntwo\n', 'latin1'));
  const receipt = await expectRefused(path, { old: 'one', new: '1' }, 'invalid_utf8');
  expect(namesNumber(receipt, 7)).toBe(true);
  await expectRefused(put('binary', 'one\0two'), { old: 'one', new: '1' }, 'binary_file');
});

test('N19 F54 typographic quotes and trailing double spaces near the edit stay', async () => {
  const text = '“Quoted” – it’s…  \nnext line  \n\tend\u00a0 \n';
  expect(await edited(text, { old: 'next', new: 'last' })).toBe(text.replace('next', 'last'));
  expect(await edited(text, { old: 'it’s…  \nnext line  \n', new: 'it’s…  \nlast line  \n' })).toBe(
    text.replace('next', 'last'),
  );
  await expectRefused(put('quotes', text), { old: '"Quoted"', new: 'x' }, 'text_not_found');
});

test('N19 F54 the end of the file stays as it is, with or without a line feed', async () => {
  expect(await edited('a\nb', { old: 'a', new: 'c' })).toBe('c\nb');
  expect(await edited('a\nb\n\n', { old: 'a', new: 'c' })).toBe('c\nb\n\n');
  expect(await edited('a\nb', { old: 'b', new: 'c' })).toBe('a\nc');
});

test('N19 F55 a Hangul name is edited under either normalisation, and no second file appears', async () => {
  const name = '한글.txt';
  const path = put(name.normalize('NFD'), 'one');
  expect(
    (await edit(join(session.project, name.normalize('NFC')), { old: 'one', new: 'two' })).code,
  ).toBeNull();
  expect(readFileSync(path, 'utf8')).toBe('two');
  expect(readdirSync(session.project)).toEqual([name.normalize('NFD')]);
});

test('N19 F56 mode bits survive, whatever the umask says', async () => {
  const umask = process.umask(0o077);
  try {
    for (const mode of [0o755, 0o600, 0o644, 0o666, 0o777, 0o200]) {
      const path = put(`mode-${mode.toString(8)}`, 'one');
      chmodSync(path, mode);
      await edit(path, { old: 'one', new: 'two' });
      expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o7777]).toEqual(['two', mode]);
    }
  } finally {
    process.umask(umask);
  }
});

test('N19 F56 owner and group survive', async () => {
  const path = put('owned', 'one');
  const [uid, gid] =
    process.getuid?.() === 0 ? [1234, 4321] : [statSync(path).uid, statSync(path).gid];
  chownSync(path, uid, gid);
  chmodSync(path, 0o2755);
  await edit(path, { old: 'one', new: 'two' });
  const after = statSync(path);
  expect([after.uid, after.gid, after.mode & 0o7777]).toEqual([uid, gid, 0o2755]);
});

test('N19 F4 permissions: a file that nobody may write is not replaced, even by root', async () => {
  for (const mode of [0o444, 0o555, 0o400]) {
    const path = put(`mode-${mode.toString(8)}`, 'one');
    chmodSync(path, mode);
    await expectRefused(path, { old: 'one', new: 'two' }, 'read_only_file');
  }
});

test('N19 F57 F4 links: a file with a second name is refused, and both names stay one file', async () => {
  const path = put('a', 'one');
  const other = join(session.outside, 'b');
  linkSync(path, other);
  await expectRefused(path, { old: 'one', new: 'two' }, 'hard_link');
  expect([statSync(path).ino, statSync(path).nlink]).toEqual([statSync(other).ino, 2]);
});

test('N19 T2 F57 F4 links: symbolic links are not edited, nor through, wherever they lead', async () => {
  const outside = put('file', 'one', session.outside);
  const deep = put('sub/file', 'one', session.outside);
  const inside = put('real/file', 'one');
  const links: Record<string, string> = {
    'file-link': outside,
    'inner-link': inside,
    'directory-link': session.outside,
    'inner-directory-link': join(session.project, 'real'),
    dangling: join(session.outside, 'none'),
    loop: 'loop',
  };
  for (const [name, target] of Object.entries(links))
    symlinkSync(target, join(session.project, name));
  for (const name of [
    'file-link',
    'inner-link',
    'directory-link/file',
    'directory-link/sub/file',
    'inner-directory-link/file',
    'dangling',
    'loop',
  ]) {
    expect([name, (await edit(name, { old: 'one', new: 'two' })).code]).toEqual([
      name,
      'symbolic_link',
    ]);
  }
  for (const path of [outside, deep, inside]) expect(readFileSync(path, 'utf8')).toBe('one');
  for (const name of Object.keys(links)) {
    expect(lstatSync(join(session.project, name)).isSymbolicLink()).toBe(true);
  }
  expect(readdirSync(session.outside)).toEqual(['file', 'sub']);
});

test('N19 T1 nothing outside the write root is edited, by whatever spelling', async () => {
  const evil = `${session.project}-evil`;
  mkdirSync(evil);
  const change = { old: 'one', new: 'two' };
  await expectRefused(put('f', 'one', evil), change, 'outside_write_root');
  await expectRefused(put('f', 'one', session.outside), change, 'outside_write_root');
  expect((await edit('../outside/f', change)).code).toBe('outside_write_root');
  expect((await edit(`${session.project}/./../project-evil/f`, change)).code).toBe(
    'outside_write_root',
  );
  expect((await edit('/proc/self/cwd/package.json', change)).code).toBe('virtual_filesystem');
});

test('N19 N12 protected files and .git are not edited, under none of their names', async () => {
  const change = { old: 'one', new: 'two' };
  for (const name of ['.env', 'server.pem', 'x.tfstate'])
    await expectRefused(put(name, 'one'), change, 'protected_path');
  for (const name of ['.git/config', 'sub/.git', 'deep/.GIT/hooks/x'])
    await expectRefused(put(name, 'one'), change, 'git_directory');
  const key = put('.ssh/id', 'one', session.home);
  const linked = put('dotfiles/id', 'one');
  symlinkSync(linked, join(session.home, '.ssh', 'linked'));
  await expectRefused(linked, change, 'protected_path');
  linkSync(key, join(session.project, 'alias'));
  await expectRefused(join(session.project, 'alias'), change, 'protected_path');
});

test('N19 N14 what is no regular file is refused', async () => {
  execFileSync('mkfifo', [join(session.project, 'pipe')]);
  const change = { old: 'one', new: 'two' };
  expect((await edit('pipe', change)).code).toBe('not_a_regular_file');
  mkdirSync(join(session.project, 'directory'));
  expect((await edit('directory', change)).code).toBe('not_a_regular_file');
  expect((await edit('none', change)).code).toBe('path_not_found');
  put('file', 'one');
  expect((await edit('file/below', change)).code).toBe('path_not_found');
  expect(lstatSync(join(session.project, 'pipe')).isFIFO()).toBe(true);
});

test('N19 N8 a file above the limit is refused, and no edit makes one that large', async () => {
  const large = put('large', Buffer.alloc(10 * 1024 * 1024 + 1, 'a'));
  expect((await edit(large, { old: 'b', new: 'c' })).code).toBe('file_too_large');
  const path = put('grows', Buffer.alloc(6 * 1024 * 1024, 'a'));
  expect((await edit(path, { old: 'a', new: 'aa', all: true })).code).toBe('file_too_large');
  expect((await edit(path, { old: 'a', new: 'a'.repeat(100_000), all: true })).code).toBe(
    'file_too_large',
  );
  expect(statSync(path).size).toBe(6 * 1024 * 1024);
});

test('N19 a name with line feeds, escapes and invisible characters is edited as it is', async () => {
  for (const name of ['a\nb', 'esc\x1b[2J', 'rlo\u202etxt', ' leading', '-n', '*']) {
    const path = put(name, 'one');
    expect((await edit(path, { old: 'one', new: 'two' })).code).toBeNull();
    expect(readFileSync(path, 'utf8')).toBe('two');
  }
  expect(readdirSync(session.project)).toHaveLength(6);
});

test('N20 F4 concurrency: a file that changed since it was read is not edited', async () => {
  const path = put('a.txt', 'one two\n');
  await session.call('Read', { file_path: path });
  writeFileSync(path, 'one 2!!\n');
  await expectRefused(path, { old: 'one', new: '1' }, 'file_changed');
  await session.call('Read', { file_path: path });
  expect((await edit(path, { old: 'one', new: '1' })).code).toBeNull();
  expect(readFileSync(path, 'utf8')).toBe('1 2!!\n');
});

test('N20 F4 concurrency: a change that keeps size and mtime is noticed all the same', async () => {
  const path = put('a.txt', 'one two\n');
  await session.call('Read', { file_path: path });
  const { atime, mtime } = statSync(path);
  writeFileSync(path, 'one 2wo\n');
  utimesSync(path, atime, mtime);
  await expectRefused(path, { old: 'one', new: '1' }, 'file_changed');
  // The same content under the same name again, in another file: nothing was lost.
  writeFileSync(join(session.project, 'other'), 'one two\n');
  renameSync(join(session.project, 'other'), path);
  expect((await edit(path, { old: 'one', new: '1' })).code).toBeNull();
});

test('N20 F4 concurrency: what the session itself wrote last counts as read', async () => {
  const path = put('a.txt', 'one\n');
  await session.call('Read', { file_path: path });
  expect((await edit(path, { old: 'one', new: 'two' })).code).toBeNull();
  expect((await edit(path, { old: 'two', new: 'three' })).code).toBeNull();
  writeFileSync(path, 'two\n');
  await expectRefused(path, { old: 'two', new: 'four' }, 'file_changed');
});

test('N20 T6 F57 a directory swapped for a link during edits leaves everything outside untouched', async () => {
  const path = put('swapped/sub/file', 'counter 0\n');
  const outside = put('sub/file', 'counter 0\n', session.outside);
  const before = statSync(outside);
  const other = join(session.project, 'link');
  symlinkSync(session.outside, other);
  let applied = 0;
  const refused = new Set<string | null>();
  await whileMeddling({ deed: 'swap', path: join(session.project, 'swapped'), other }, async () => {
    // On a busy machine one of the two can have all the luck for a while: both have to have been met.
    const met = (): boolean =>
      applied > 0 && (refused.has('symbolic_link') || refused.has('file_changed'));
    for (let round = 0; round < 150 || (round < 10_000 && !met()); round += 1) {
      const receipt = await edit(path, {
        old: `counter ${applied}`,
        new: `counter ${applied + 1}`,
      });
      if (receipt.is_error) refused.add(receipt.code);
      else applied += 1;
    }
  });
  expect(readFileSync(outside, 'utf8')).toBe('counter 0\n');
  const { ino, mtimeMs, ctimeMs } = statSync(outside);
  expect({ ino, mtimeMs, ctimeMs }).toEqual({
    ino: before.ino,
    mtimeMs: before.mtimeMs,
    ctimeMs: before.ctimeMs,
  });
  expect(readdirSync(dirname(outside))).toEqual(['file']);
  expect(readFileSync(path, 'utf8')).toBe(`counter ${applied}\n`);
  expect(
    [...refused].filter(
      (code) => !['symbolic_link', 'file_changed', 'path_not_found'].includes(`${code}`),
    ),
  ).toEqual([]);
  expect(applied).toBeGreaterThan(0);
  expect(refused.has('symbolic_link') || refused.has('file_changed')).toBe(true);
});

test('N20 F4 crash: a watched file is never seen short or missing while it is edited', async () => {
  const path = put('large', `${'line of text\n'.repeat(80_000)}0\n`);
  const size = statSync(path).size;
  const report = await whileMeddling({ deed: 'watch', path }, async () => {
    for (let round = 0; round < 9; round += 1) {
      expect((await edit(path, { old: `\n${round}\n`, new: `\n${round + 1}\n` })).code).toBeNull();
    }
  });
  expect({ missing: report.missing, sizes: report.sizes }).toEqual({ missing: 0, sizes: [size] });
  expect(report.rounds).toBeGreaterThan(100);
});

test('N19 unknown parameters and text that UTF-8 cannot carry are refused before anything runs', () => {
  const good = { file_path: 'a', old_string: 'a', new_string: 'b' };
  expect(() => checkToolCall('direct_write', { tool: 'Edit', input: good }, 0)).not.toThrow();
  const wrong: JsonObject[] = [
    { old_string: '' },
    { regex: true },
    { old_string: '\ud800' },
    { new_string: 'a\udc00' },
    { file_path: '\ud800' },
    { replace_all: 'yes' },
  ];
  for (const bad of wrong) {
    const input: JsonObject = { ...good, ...bad };
    expect(() => checkToolCall('direct_write', { tool: 'Edit', input }, 0)).toThrow(
      expect.objectContaining({ code: 'tool_call_invalid' }),
    );
  }
  expect(() => checkToolCall('read_only', { tool: 'Edit', input: good }, 0)).toThrow(
    expect.objectContaining({ code: 'tool_not_available' }),
  );
});
