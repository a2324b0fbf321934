import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
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
    expect(() => freeze([pin('personal:review', CONTENT)])).toThrow(
      /has changed.* is [0-9a-f]{64} now/,
    );
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
    ['front matter with a bomb', '---\na: &a [1,1]\nb: [*a,*a]\n---\nx', /front matter|/],
    ['no instructions', '---\na: 1\n---\n \n', /no instructions/],
    ['nothing at all', '', /no instructions/],
  ])('is refused with the reason: %s', (_what, content, reason) => {
    put('personal', 'odd', content);
    const asked = [{ skill_id: 'personal:odd', content_sha256: 'a'.repeat(64) }];
    expect(() => freeze(asked)).toThrow(reason);
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
      expect(splitFrontMatter(`---\nname: x\n---\n${body}`)).toBe(body);
      if (!body.startsWith('---\n')) expect(splitFrontMatter(body)).toBe(body);
    }),
  );
});

test.each(['', '{}', '[{}]', '[{"skill_id":"a","content_sha256":"A"}]', 'no JSON', '[1]'])(
  'N35 an allow-list that is none is not taken for an empty one: %s',
  (value) => {
    expect(parseAllowList(value)).toBeUndefined();
  },
);
