import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { canonicalJson, type Json } from '../../../src/base/canonical-json.ts';
import { escapeText } from '../../../src/base/escape-text.ts';
import {
  isSessionId,
  isToolUseId,
  mintRunnerId,
  mintSessionId,
  mintToolUseId,
} from '../../../src/base/ids.ts';
import { createSessionTokens, secretsEqual } from '../../../src/base/session-tokens.ts';
import {
  locateStateDirectory,
  openStateDirectory,
  readOrCreateSecret,
} from '../../../src/base/state-directory.ts';
import { truncateText } from '../../../src/base/truncate-text.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reins-unit-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** Builds an equal value with its keys in another order. */
function shuffle(value: Json): Json {
  if (Array.isArray(value)) return value.map(shuffle);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, shuffle(item)]),
  );
}

test('canonical JSON is JSON, and the same for equal values however their keys are ordered', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json: Json = JSON.parse(JSON.stringify(value));
      expect(canonicalJson(shuffle(json))).toBe(canonicalJson(json));
      expect(JSON.parse(canonicalJson(json))).toEqual(json);
    }),
  );
});

test('truncation never splits a character and never exceeds its limit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, limit) => {
      const cut = truncateText(text, limit);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
      expect(text.startsWith(cut)).toBe(true);
      expect(cut.isWellFormed()).toBe(true);
    }),
  );
});

test('escaping leaves plain text alone and nothing that moves a cursor or hides', () => {
  expect(escapeText('Grüße, 日本\tok')).toBe('Grüße, 日本\tok');
  expect(escapeText('a\nb')).toBe('a\\u{a}b');
  expect(escapeText('a\nb', true)).toBe('a\nb');
  expect(escapeText('\u001b]8;;x\u0007\u202e\u200b\u{e0041}\ufeff\ud800')).toBe(
    '\\u{1b}]8;;x\\u{7}\\u{202e}\\u{200b}\\u{e0041}\\u{feff}\\u{d800}',
  );
});

test('ids are recognised by their shape and not confused', () => {
  expect(isSessionId(mintSessionId())).toBe(true);
  expect(isToolUseId(mintToolUseId())).toBe(true);
  for (const wrong of [
    mintToolUseId(),
    'ns_',
    'ns_../../../etc/passwd00',
    `${mintSessionId()}x`,
    5,
    null,
  ]) {
    expect(isSessionId(wrong)).toBe(false);
  }
});

test('N47 the state directory is found by variable, alias and platform, and has to be absolute', () => {
  const home = { HOME: '/home/u' };
  expect(locateStateDirectory({ ...home, REINS_STATE_DIR: '/a' }, 'linux')).toBe('/a');
  expect(locateStateDirectory({ ...home, CLAUDE_TOOLS_STATE_DIR: '/b' }, 'linux')).toBe('/b');
  expect(locateStateDirectory(home, 'linux')).toBe('/home/u/.local/state/reins');
  expect(locateStateDirectory({ ...home, XDG_STATE_HOME: '/x' }, 'linux')).toBe('/x/reins');
  expect(locateStateDirectory({ ...home, XDG_STATE_HOME: 'x' }, 'linux')).toBe(
    '/home/u/.local/state/reins',
  );
  expect(locateStateDirectory(home, 'darwin')).toBe('/home/u/Library/Application Support/reins');
  for (const env of [{ ...home, REINS_STATE_DIR: 'a' }, { ...home, REINS_STATE_DIR: '' }, {}]) {
    expect(() => locateStateDirectory(env, 'linux')).toThrow(
      expect.objectContaining({ code: 'state_directory_invalid' }),
    );
  }
});

test('N47 a state directory is made private, and refused when it is a file or too long for a socket', () => {
  const root = join(directory, 'state');
  mkdirSync(root, { mode: 0o755 });
  const state = openStateDirectory(root);
  expect(statSync(root).mode & 0o777).toBe(0o700);
  expect(Buffer.byteLength(state.socketPath(mintRunnerId()))).toBeLessThanOrEqual(103);
  writeFileSync(join(directory, 'file'), '');
  symlinkSync('/nonexistent', join(directory, 'dangling'));
  for (const bad of [join(directory, 'file'), join(directory, 'dangling'), `/${'x'.repeat(80)}`]) {
    expect(() => openStateDirectory(bad)).toThrow(
      expect.objectContaining({ code: 'state_directory_invalid' }),
    );
  }
});

test('the secret is made once, kept for the owner alone, and a damaged one is not replaced', () => {
  const path = join(directory, 'secret.key');
  const secret = readOrCreateSecret(path);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(readOrCreateSecret(path)).toBe(secret);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  writeFileSync(path, 'damaged');
  expect(() => readOrCreateSecret(path)).toThrow(
    expect.objectContaining({ code: 'state_directory_invalid' }),
  );
  expect(readFileSync(path, 'utf8')).toBe('damaged');
});

test('tokens differ by session, runner, kind and secret', () => {
  const [a, b] = [createSessionTokens('a'), createSessionTokens('b')];
  const [one, two, runner] = [mintSessionId(), mintSessionId(), mintRunnerId()];
  const all = [
    a.recoveryToken(one),
    a.recoveryToken(two),
    b.recoveryToken(one),
    a.runnerToken(one, runner),
    a.runnerToken(two, runner),
    a.runnerProof(one, runner),
  ];
  expect(new Set(all).size).toBe(all.length);
  expect(secretsEqual('abc', 'abc')).toBe(true);
  for (const other of ['abd', 'ab', 'abcd', '']) expect(secretsEqual('abc', other)).toBe(false);
});
