import { resolve } from 'node:path';
import { escapeText } from '../../base/escape-text.ts';
import type { SkillPin } from '../../skills/allow-list.ts';
import { type ListedSkill, listSkills } from '../../skills/list-skills.ts';
import type { Environment } from '../environment.ts';
import { toJsonText } from '../to-json-text.ts';

/** `reins skills`: what there is, whether sessions may have it, and what to put into the environment so that they may. */
export function runSkills(
  environment: Environment,
  options: { readonly directory: string; readonly json?: true },
): void {
  const project = resolve(options.directory);
  const skills = listSkills({ home: environment.userHome, project }, environment.skillAllowList);
  if (options.json) {
    process.stdout.write(toJsonText({ project, skills: skills.map(toJson) }));
    return;
  }
  if (skills.length === 0) {
    process.stdout.write(
      `There are no skills in ~/.claude/skills and none in .claude/skills of ${escapeText(project)}.\n`,
    );
    return;
  }
  for (const skill of skills) process.stdout.write(`${toLine(skill)}\n`);
  const missing = skills.flatMap((skill) => (skill.status === 'not_allowed' ? [skill.pin] : []));
  if (missing.length === 0) return;
  const whole = JSON.stringify([...environment.skillAllowList, ...missing]);
  process.stdout.write(
    `\nRead those that are not allowed, and allow what you want sessions to follow. All of them would be:\n\nexport REINS_SKILL_ALLOWLIST_JSON='${whole}'\n`,
  );
}

function toLine(skill: ListedSkill): string {
  if (skill.status === 'refused') return `✗ ${escapeText(skill.id)}  ${skill.reason}`;
  const mark = skill.status === 'allowed' ? '✓' : '-';
  const allowed = skill.status === 'allowed' ? 'allowed' : 'not allowed';
  return `${mark} ${skill.pin.skill_id}  ${allowed}, ${skill.bytes} bytes\n    ${entryOf(skill.pin)}`;
}

function toJson(skill: ListedSkill): object {
  return skill.status === 'refused'
    ? { skill_id: skill.id, status: 'refused', reason: skill.reason }
    : { ...skill.pin, status: skill.status, bytes: skill.bytes };
}

function entryOf(pin: SkillPin): string {
  return JSON.stringify({ skill_id: pin.skill_id, content_sha256: pin.content_sha256 });
}
