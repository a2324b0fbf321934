import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readKeyFile } from '../../../src/deepseek/read-key-file.ts';

const KEY = 'sk-0123456789abcdef';
let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reins-unit-'));
  path = join(directory, 'key');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('N33 a key is one line in a file of mode 0600, and none is none', () => {
  expect(readKeyFile(path)).toBeNull();
  writeFileSync(path, `${KEY}\r\n`, { mode: 0o600 });
  expect(readKeyFile(path)).toBe(KEY);
});

test.each<[string, () => void, RegExp]>([
  ['others can read', () => chmodSync(write(KEY), 0o640), /mode 0600/],
  ['holds two lines', () => write(`${KEY}\n${KEY}`), /nothing else/],
  ['holds a quote', () => write(`${KEY}"`), /nothing else/],
  ['holds nothing', () => write(''), /nothing else/],
  ['is long', () => write(KEY.repeat(1_000)), /longer than 4096/],
  ['is a directory', () => mkdirSync(path), /no regular file/],
  [
    'is a pipe, which nobody writes to',
    () => execFileSync('mkfifo', ['-m', '600', path]),
    /no regular file/,
  ],
])('N33 N46 a key file that %s is refused, and nothing of it is shown', (_what, make, reason) => {
  make();
  const read = (): unknown => readKeyFile(path);
  expect(read).toThrow(reason);
  expect(read).not.toThrow(KEY);
  expect(read).not.toThrow(directory);
});

function write(content: string): string {
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}
