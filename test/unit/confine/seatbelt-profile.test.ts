import { describe, expect, test } from 'vitest';
import type { ClaudePlaces } from '../../../src/confine/claude-places.ts';
import {
  toClaudeProfile,
  toCommandProfile,
  toToolProfile,
} from '../../../src/confine/darwin/seatbelt-profile.ts';

const PLACES: ClaudePlaces = {
  executable: '/opt/claude "x"',
  home: '/state/s/home',
  configDirectory: '/state/s/claude',
  runtimeDirectory: '/state/s/runtime',
  modelSocket: '/state/run/r.api',
  executorRequests: '/state/s/runtime/requests',
  executorAnswers: '/state/s/runtime/answers',
};

type Form = string | Form[];

/** Reads a profile as the list of its rules. Throws where parentheses or quotes do not match. */
function read(profile: string): Form[] {
  const tokens = profile.match(/#?"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+/g) ?? [];
  const stack: Form[][] = [[]];
  for (const token of tokens) {
    if (token === '(') stack.push([]);
    else if (token === ')') {
      const done = stack.pop() ?? [];
      const parent = stack.at(-1);
      if (parent === undefined) throw new Error('one parenthesis too many');
      parent.push(done);
    } else stack.at(-1)?.push(token);
  }
  if (stack.length !== 1) throw new Error('a parenthesis is missing');
  return stack[0] ?? [];
}

const rules = (profile: string): string[] => read(profile).map((rule) => JSON.stringify(rule));
const hidden = ['/home/me/.ssh', '/home/me/a "b" \\c', '/state'];
const command = toCommandProfile(
  { hidden, hiddenNames: ['.env', '*.pem', 'a+b*'] },
  '/state/s/commands/1/tmp',
);

describe('B1 N42 N22 Seatbelt profiles', () => {
  test.each([
    ['Claude Code', toClaudeProfile(PLACES)],
    ['a command', command],
    ['a tool', toToolProfile({ readable: ['/r'], writable: ['/w'] })],
  ])(
    'for %s: everything is denied first, and no service of the system is open',
    (_who, profile) => {
      expect(rules(profile).slice(0, 2)).toEqual(['["version","1"]', '["deny","default"]']);
      const allowed = rules(profile).filter((rule) => rule.startsWith('["allow"'));
      const services = allowed.filter((rule) => rule.includes('mach-lookup'));
      expect(services).toEqual([
        expect.stringContaining('com.apple.system.opendirectoryd.libinfo'),
      ]);
      for (const open of [
        'network*',
        'network-bind',
        'network-inbound',
        'appleevent-send',
        'iokit-open',
        'job-creation',
      ]) {
        expect(allowed.some((rule) => rule.includes(`"${open}"`))).toBe(false);
      }
    },
  );

  test('Claude Code has one socket, its own directories, and no other file to write', () => {
    const profile = toClaudeProfile(PLACES);
    const network = rules(profile).filter((rule) => rule.includes('network'));
    expect(network).toEqual([
      JSON.stringify([
        'allow',
        'network-outbound',
        ['remote', 'unix-socket', ['path-literal', '"/state/run/r.api"']],
      ]),
    ]);
    const writes = rules(profile).filter((rule) => rule.includes('file-write*'));
    expect(writes).toHaveLength(2);
    expect(writes.join()).not.toMatch(/subpath","\\"\/(state\/run|state|home|Users)\\""/);
    expect(profile).toContain('(literal "/opt/claude \\"x\\"")');
  });

  test('a command: what is hidden is denied behind what is allowed, and its scratch directory is open behind that', () => {
    const list = rules(command);
    const read = list.findIndex((rule) =>
      rule.startsWith('["allow","file-read*","file-map-executable"]'),
    );
    const deny = list.findIndex((rule) =>
      rule.startsWith('["deny","file-read*","file-write*","process-exec"'),
    );
    const scratch = list.findIndex((rule) => rule.includes('/state/s/commands/1/tmp'));
    expect(read).toBeGreaterThan(0);
    expect(deny).toBeGreaterThan(read);
    expect(scratch).toBeGreaterThan(deny);
    expect(command).toContain('(subpath "/home/me/a \\"b\\" \\\\c")');
    expect(list.slice(scratch + 1).some((rule) => rule.includes('"network*"'))).toBe(true);
    expect(
      list.filter((rule) => rule.includes('file-write*') && rule.startsWith('["allow"')),
    ).toHaveLength(1);
  });

  test.each([
    ['/x/.env', true],
    ['/x/server.pem', true],
    ['/x/a+bc', true],
    ['/x/xenv', false],
    ['/x/server.pem.txt', false],
    ['/x/aab', false],
  ])('the name patterns judge %s: %s', (path, closed) => {
    const patterns = [...command.matchAll(/\(regex #"((?:[^"\\]|\\.)*)"\)/g)].map(
      (match) => new RegExp(match[1] ?? ''),
    );
    expect(patterns).toHaveLength(3);
    expect(patterns.some((pattern) => pattern.test(path))).toBe(closed);
  });
});
