import { readdirSync } from 'node:fs';
import { systemErrorCode } from '../base/system-error-code.ts';
import { isAllowed, type SkillPin } from './allow-list.ts';
import { readSkill } from './read-skill.ts';
import { locateSkill, type SkillPlaces, skillsDirectory } from './skill-id.ts';
import { takeInstructions } from './take-instructions.ts';

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
  return (['personal', 'project'] as const).flatMap((scope): ListedSkill[] => {
    const names = namesIn(skillsDirectory(scope, places));
    if (typeof names === 'string') {
      return [{ status: 'refused', id: `${scope}:`, reason: `their folder ${names}` }];
    }
    return names.map((name): ListedSkill => {
      const id = `${scope}:${name}`;
      const path = locateSkill(id, places);
      if (path === undefined) {
        return { status: 'refused', id, reason: 'has a name that no skill id can have' };
      }
      const reading = readSkill(path, scope === 'personal' ? places.home : places.project);
      if (reading.kind === 'refused') return { status: 'refused', id, reason: reading.reason };
      const taken = takeInstructions(reading.file.text);
      if (taken.kind === 'refused') return { status: 'refused', id, reason: taken.reason };
      const pin = { skill_id: id, content_sha256: reading.file.sha256 };
      const bytes = Buffer.byteLength(taken.body);
      return { status: isAllowed(allowed, pin) ? 'allowed' : 'not_allowed', pin, bytes };
    });
  });
}

/** What is in a folder, which need not be there; or what is wrong with it. */
function namesIn(directory: string): string[] | string {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    const code = systemErrorCode(error);
    return code === 'ENOENT' || code === 'ENOTDIR' ? [] : `cannot be read (${code})`;
  }
}
