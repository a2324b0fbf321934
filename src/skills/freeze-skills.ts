import { escapeText } from '../base/escape-text.ts';
import { ReinsError } from '../base/reins-error.ts';
import { isAllowed, MAX_SKILLS, type SkillPin } from './allow-list.ts';
import { readSkill } from './read-skill.ts';
import { locateSkill, type SkillPlaces } from './skill-id.ts';
import { takeInstructions } from './take-instructions.ts';

/** All bodies of a session together, in bytes: they are part of each full turn. */
export const MAX_BODIES_BYTES = 256 * 1024;

/** A skill as a session has it for good. */
export interface FrozenSkill extends SkillPin {
  readonly body: string;
}

/**
 * Takes the instructions of each skill that a client asks for, in the order asked. All or none: throws `skill_refused`
 * with the first reason. A skill has to be named by id and hash here and in the user's allow-list, and be that very
 * file; only then is its text looked into. A refusal tells nothing of a file that is another one.
 */
export function freezeSkills(
  asked: readonly SkillPin[],
  allowed: readonly SkillPin[],
  places: SkillPlaces,
): FrozenSkill[] {
  if (asked.length > MAX_SKILLS) {
    throw refusal(`skill_contexts has ${asked.length} entries and the limit is ${MAX_SKILLS}`);
  }
  const taken = new Set<string>();
  const frozen = asked.map((pin) => {
    const { path, skill } = freeze(pin, allowed, places);
    if (taken.has(path)) throw refusal(`the file of ${skill.skill_id} is in skill_contexts twice`);
    taken.add(path);
    return skill;
  });
  const bytes = frozen.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
  if (bytes > MAX_BODIES_BYTES) {
    throw refusal(`the skills have ${bytes} bytes together and the limit is ${MAX_BODIES_BYTES}`);
  }
  return frozen;
}

function freeze(
  pin: SkillPin,
  allowed: readonly SkillPin[],
  places: SkillPlaces,
): { readonly path: string; readonly skill: FrozenSkill } {
  const { skill_id: id } = pin;
  const hash = pin.content_sha256.toLowerCase();
  const path = locateSkill(id, places);
  if (path === undefined) {
    throw refusal(
      `"${escapeText(id.slice(0, 100))}" is no skill id; those are personal:NAME and project:NAME`,
    );
  }
  if (!isAllowed(allowed, { skill_id: id, content_sha256: hash })) {
    const known = allowed.some((entry) => entry.skill_id === id);
    throw refusal(
      known
        ? `${id} is allowed with another content_sha256 than the one given`
        : `${id} is not in the allow-list`,
    );
  }
  const root = id.startsWith('personal:') ? places.home : places.project;
  const reading = readSkill(path, root);
  if (reading.kind === 'refused') throw refusal(`the SKILL.md of ${id} ${reading.reason}`);
  if (reading.file.sha256 !== hash) {
    throw refusal(`the SKILL.md of ${id} has changed since its SHA-256 was that one`);
  }
  const instructions = takeInstructions(reading.file.text);
  if (instructions.kind === 'refused')
    throw refusal(`the SKILL.md of ${id} ${instructions.reason}`);
  return {
    path: reading.file.path,
    skill: { skill_id: id, content_sha256: hash, body: instructions.body },
  };
}

function refusal(reason: string): ReinsError {
  return new ReinsError(
    'skill_refused',
    `No session was started over skill_contexts: ${reason}; "reins skills" on the computer shows what there is and the entries for REINS_SKILL_ALLOWLIST_JSON.`,
  );
}
