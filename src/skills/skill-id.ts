import { join } from 'node:path';

/** Where skills are looked for: the two places in which Claude Code keeps a user's own and a project's. */
export interface SkillPlaces {
  readonly home: string;
  /** The directory that a session is started on. */
  readonly project: string;
}

/** What names a skill: where it is kept and the name of its folder. */
export const SKILL_ID = /^(personal|project):([A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;

/** `personal:NAME` or `project:NAME`, as a file. Undefined for anything else: a name never leads anywhere else. */
export function locateSkill(id: string, places: SkillPlaces): string | undefined {
  const match = SKILL_ID.exec(id);
  const [, scope, name] = match ?? [];
  if (name === undefined) return undefined;
  return join(
    skillsDirectory(scope === 'personal' ? 'personal' : 'project', places),
    name,
    'SKILL.md',
  );
}

export function skillsDirectory(scope: 'personal' | 'project', places: SkillPlaces): string {
  return join(scope === 'personal' ? places.home : places.project, '.claude', 'skills');
}
