import { readdirSync } from 'node:fs';
import { isAllowed, type SkillPin } from './allow-list.ts';
import { readSkill } from './read-skill.ts';
import { locateSkill, type SkillPlaces, skillsDirectory } from './skill-id.ts';

/** A folder where a skill is looked for, and what is in it. */
export type ListedSkill =
  | {
      readonly status: 'allowed' | 'not_allowed';
      readonly pin: SkillPin;
      readonly bytes: number;
    }
  | { readonly status: 'refused'; readonly id: string; readonly reason: string };

/** Every skill of the user and of a project, usable or not, by name. */
export function listSkills(places: SkillPlaces, allowed: readonly SkillPin[]): ListedSkill[] {
  return (['personal', 'project'] as const).flatMap((scope) =>
    namesIn(skillsDirectory(scope, places)).map((name): ListedSkill => {
      const id = `${scope}:${name}`;
      const path = locateSkill(id, places);
      if (path === undefined) {
        return { status: 'refused', id, reason: 'has a name that no skill id can have' };
      }
      const reading = readSkill(path, scope === 'personal' ? places.home : places.project);
      if (reading.kind === 'refused') return { status: 'refused', id, reason: reading.reason };
      const pin = { skill_id: id, content_sha256: reading.skill.sha256 };
      const bytes = Buffer.byteLength(reading.skill.body);
      return { status: isAllowed(allowed, pin) ? 'allowed' : 'not_allowed', pin, bytes };
    }),
  );
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
