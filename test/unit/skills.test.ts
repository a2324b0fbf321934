import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { sha256 } from '../../src/base/sha256.ts';
import { parseAllowList, type SkillPin } from '../../src/skills/allow-list.ts';
import { freezeSkills } from '../../src/skills/freeze-skills.ts';
import { listSkills } from '../../src/skills/list-skills.ts';
import { MAX_SKILL_BYTES } from '../../src/skills/read-skill.ts';
import { splitFrontMatter } from '../../src/skills/split-front-matter.ts';

let root: string;
let home: string;
let project: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'reins-skills-')));
  home = join(root, 'home');
  project = join(root, 'project');
  for (const each of [home, project]) mkdirSync(each);
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function put(scope: 'personal' | 'project', name: string, content: string | Uint8Array): string {
  const base = scope === 'personal' ? home : project;
  const path = join(base, '.claude', 'skills', name, 'SKILL.md');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const pin = (id: string, content: string): SkillPin => ({
  skill_id: id,
  content_sha256: sha256(content),
});
const freeze = (asked: readonly SkillPin[], allowed: readonly SkillPin[] = asked) =>
  freezeSkills(asked, allowed, { home, project });

const CONTENT = '---\nname: review\nallowed-tools: Bash\n---\n\n# Review\nBe kind.\n';

describe('N35 a skill', () => {
  test('is its instructions alone, in the order asked, from both places', () => {
    put('personal', 'review', CONTENT);
    put('project', 'style', 'Plain text.\n');
    const asked = [pin('project:style', 'Plain text.\n'), pin('personal:review', CONTENT)];
    expect(freeze(asked)).toEqual([
      { ...asked[0], body: 'Plain text.\n' },
      { ...asked[1], body: '\n# Review\nBe kind.\n' },
    ]);
  });

  test('is pinned by its whole text, whatever its byte order mark and line ends', () => {
    const asked = [pin('personal:review', CONTENT)];
    const crlf = CONTENT.replaceAll('\n', '\r\n');
    for (const written of [CONTENT, crlf, CONTENT.replaceAll('\n', '\r'), `\ufeff${crlf}`]) {
      put('personal', 'review', written);
      expect(freeze(asked)[0]?.body).toBe('\n# Review\nBe kind.\n');
    }
  });

  test.each([
    ['one byte more', `${CONTENT}.`],
    ['a change in what is dropped', CONTENT.replace('Bash', 'Read')],
    ['another final newline', `${CONTENT}\n`],
  ])('that has changed is refused: %s', (_what, changed) => {
    put('personal', 'review', changed);
    const asked = (): unknown => freeze([pin('personal:review', CONTENT)]);
    expect(asked).toThrow(/has changed/);
    // The refusal tells a client nothing of another file.
    expect(asked).not.toThrow(sha256(changed));
  });

  test('has to be on the list by name and hash', () => {
    put('personal', 'review', CONTENT);
    const asked = [pin('personal:review', CONTENT)];
    expect(() => freeze(asked, [])).toThrow(/not in the allow-list/);
    expect(() => freeze(asked, [pin('project:review', CONTENT)])).toThrow(/not in the allow-list/);
    expect(() => freeze(asked, [pin('personal:review', 'other')])).toThrow(
      /another content_sha256/,
    );
  });

  test('is asked for once, with seven others at most', () => {
    put('personal', 'review', CONTENT);
    const one = pin('personal:review', CONTENT);
    expect(() => freeze([one, one])).toThrow(/twice/);
    expect(() => freeze(Array(9).fill(one))).toThrow(/limit is 8/);
  });

  test.each([
    ...['review', 'personal:', 'personal:../x', 'personal:a/b', 'personal:.hidden', 'user:review'],
    ...['personal:a\0', 'PERSONAL:review', 'personal:review ', `personal:${'a'.repeat(65)}`],
  ])('has no other name than personal:NAME or project:NAME: %j', (id) => {
    expect(() => freeze([pin(id, CONTENT)])).toThrow(/is no skill id/);
  });

  test('is no larger than 64 KiB, and all of a session no larger than 256 KiB', () => {
    const fits = 'x'.repeat(MAX_SKILL_BYTES);
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) put('personal', name, fits);
    put('personal', 'more', `${fits}x`);
    const all = names.map((name) => pin(`personal:${name}`, fits));
    expect(freeze(all.slice(0, 4))).toHaveLength(4);
    expect(() => freeze(all)).toThrow(/limit is 262144/);
    expect(() => freeze([pin('personal:more', `${fits}x`)])).toThrow(/larger than 65536 bytes/);
  });

  test.each([
    ['binary', new Uint8Array([0x61, 0x00, 0x62]), /not a text file/],
    ['bytes that are no UTF-8', new Uint8Array([0x61, 0xff, 0x62]), /not a text file/],
    ['front matter that is no YAML', '---\na: [\n---\nx', /front matter/],
    ['front matter that does not end', '---\na: 1\nx', /front matter/],
    ['front matter that is a list', '---\n- a\n---\nx', /front matter/],
    ['front matter of nine kilobytes', `---\na: ${'x'.repeat(9_000)}\n---\nx`, /of more than 8192/],
    ['front matter that is deep', `---\na: ${'['.repeat(4_000)}\n---\nx`, /front matter/],
    ['front matter behind dashes and a blank', '--- \n- a\n---\nx', /no YAML mapping/],
    ['no instructions', '---\na: 1\n---\n \n', /no instructions/],
    ['nothing at all', '', /no instructions/],
  ])('is refused with the reason: %s', (_what, content, reason) => {
    put('personal', 'odd', content);
    const text = typeof content === 'string' ? content : '';
    expect(() => freeze([pin('personal:odd', text)])).toThrow(reason);
    // A file that is not the one that was allowed is not looked into.
    if (text !== '') {
      expect(() => freeze([{ skill_id: 'personal:odd', content_sha256: 'a'.repeat(64) }])).toThrow(
        /has changed/,
      );
    }
  });

  test('is reached through no link, and is a regular file', () => {
    const target = put('personal', 'review', CONTENT);
    const skills = dirname(dirname(target));
    mkdirSync(join(skills, 'file-link'));
    symlinkSync(target, join(skills, 'file-link', 'SKILL.md'));
    symlinkSync(dirname(target), join(skills, 'folder-link'));
    mkdirSync(join(skills, 'pipe'));
    execFileSync('mkfifo', [join(skills, 'pipe', 'SKILL.md')]);
    mkdirSync(join(skills, 'folder', 'SKILL.md'), { recursive: true });
    mkdirSync(join(project, '.claude'));
    symlinkSync(skills, join(project, '.claude', 'skills'));
    const reasons = [
      ['personal:file-link', /symbolic link/],
      ['personal:folder-link', /symbolic link/],
      ['project:review', /symbolic link/],
      ['personal:pipe', /not a regular file/],
      ['personal:folder', /not a regular file/],
      ['personal:absent', /is not there/],
    ] as const;
    for (const [id, reason] of reasons) expect(() => freeze([pin(id, CONTENT)])).toThrow(reason);
  });

  test('that cannot be had refuses all', () => {
    put('personal', 'review', CONTENT);
    expect(() => freeze([pin('personal:review', CONTENT), pin('personal:b', 'b')])).toThrow(
      /is not there/,
    );
  });
});

test('N35 the list shows each skill with its entry, and each that is none with the reason', () => {
  put('personal', 'allowed', CONTENT);
  put('personal', 'new', 'New.\n');
  put('project', 'bad name', 'x');
  put('project', 'empty', '');
  const listed = listSkills({ home, project }, [pin('personal:allowed', CONTENT)]);
  expect(listed).toEqual([
    { status: 'allowed', pin: pin('personal:allowed', CONTENT), bytes: 19 },
    { status: 'not_allowed', pin: pin('personal:new', 'New.\n'), bytes: 5 },
    expect.objectContaining({ status: 'refused', id: 'project:bad name' }),
    expect.objectContaining({ status: 'refused', id: 'project:empty' }),
  ]);
});

test('N35 front matter is dropped and nothing else, whatever the text behind it', () => {
  const text = fc.string({ unit: 'grapheme' }).map((each) => each.replaceAll('\r', ''));
  fc.assert(
    fc.property(text, (body) => {
      expect(splitFrontMatter(`---\nname: x\n---\n${body}`)).toEqual({ kind: 'body', body });
      if (!body.startsWith('---')) {
        expect(splitFrontMatter(body)).toEqual({ kind: 'body', body });
      }
    }),
  );
});

test.each([
  ['an alias that leads nowhere', 'paths: *.ts'],
  ['an alias', 'a: &a [1,1]\nb: [*a,*a]'],
  ['the same key twice', 'a: 1\na: 2'],
  ['a tag that nobody knows', 'a: !strange 1'],
  ['line separators', 'a: x\u2028---\u2028y'],
  ['control and bidirectional characters', '? [a\u009b31m, "\u202e"]\n: 1'],
  ['nothing', ''],
])('N35 front matter with %s is dropped, and nobody hears of it', (_what, yaml) => {
  const warned = vi.spyOn(process, 'emitWarning');
  expect(splitFrontMatter(`---\n${yaml}\n--- \t\nbody\n`)).toEqual({
    kind: 'body',
    body: 'body\n',
  });
  expect(warned).not.toHaveBeenCalled();
  warned.mockRestore();
});

test('N35 T5 a file is read at its very path: no further name, and no swap, leads elsewhere', () => {
  const path = put('personal', 'review', CONTENT);
  linkSync(path, join(root, 'further'));
  expect(() => freeze([pin('personal:review', CONTENT)])).toThrow(/further name/);
  rmSync(join(root, 'further'));
  expect(freeze([pin('personal:review', CONTENT)])).toHaveLength(1);
  // The home itself may be reached through a link, and be written in any way.
  symlinkSync(home, join(root, 'home-link'));
  for (const spelled of [join(root, 'home-link'), `${home}/`, `${home}/../home/.`]) {
    const places = { home: spelled, project };
    const asked = [pin('personal:review', CONTENT)];
    expect(freezeSkills(asked, asked, places)).toHaveLength(1);
  }
  // The same file by its two names, where the home is the project.
  const both = [pin('personal:review', CONTENT), pin('project:review', CONTENT)];
  expect(() => freezeSkills(both, both, { home, project: home })).toThrow(/twice/);
});

test('N35 what cannot be looked into is said, not taken for absent', () => {
  mkdirSync(join(home, '.claude', 'skills', 'loop'), { recursive: true });
  symlinkSync('SKILL.md', join(home, '.claude', 'skills', 'loop', 'SKILL.md'));
  const [entry] = listSkills({ home, project }, []);
  expect(entry).toMatchObject({ status: 'refused', reason: expect.stringContaining('ELOOP') });
});

test('N35 the case of a hash does not matter', () => {
  put('personal', 'review', CONTENT);
  const { skill_id: id, content_sha256: hash } = pin('personal:review', CONTENT);
  const allowed = parseAllowList(
    JSON.stringify([{ skill_id: id, content_sha256: hash.toUpperCase() }]),
  );
  expect(allowed).toEqual([{ skill_id: id, content_sha256: hash }]);
  expect(
    freeze([{ skill_id: id, content_sha256: hash.toUpperCase() }], allowed)[0]?.content_sha256,
  ).toBe(hash);
});

test.each([
  '',
  '{}',
  '[{}]',
  '[{"skill_id":"personal:a","content_sha256":"A"}]',
  `[{"skill_id":"x'; id; '","content_sha256":"${'a'.repeat(64)}"}]`,
  'no JSON',
  '[1]',
])('N35 an allow-list that is none is not taken for an empty one: %s', (value) => {
  expect(parseAllowList(value)).toBeUndefined();
});
