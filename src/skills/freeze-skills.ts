import { ReinsError } from '../base/reins-error.ts';
import { isAllowed, MAX_SKILLS, type SkillPin } from './allow-list.ts';
import { readSkill } from './read-skill.ts';
import { locateSkill, type SkillPlaces } from './skill-id.ts';

/** All bodies of a session together, in bytes: they are part of each full turn. */
const MAX_BODIES_BYTES = 256 * 1024;

/** A skill as a session has it for good. */
export interface FrozenSkill extends SkillPin {
  readonly body: string;
}

/**
 * Takes the instructions of each skill that a client asks for, in the order asked. All or none: throws `skill_refused`
 * with the first reason. A skill has to be named by id and hash here and in the user's allow-list, and be that very file.
 */
export function freezeSkills(
  asked: readonly SkillPin[],
  allowed: readonly SkillPin[],
  places: SkillPlaces,
): FrozenSkill[] {
  if (asked.length > MAX_SKILLS) {
    throw refusal(`skill_contexts has ${asked.length} entries and the limit is ${MAX_SKILLS}`);
  }
  const frozen = asked.map((pin, index) => {
    const repeated = asked.slice(0, index).some((other) => other.skill_id === pin.skill_id);
    if (repeated) throw refusal(`${pin.skill_id} is in skill_contexts twice`);
    return freeze(pin, allowed, places);
  });
  const bytes = frozen.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
  if (bytes > MAX_BODIES_BYTES) {
    throw refusal(`the skills have ${bytes} bytes together and the limit is ${MAX_BODIES_BYTES}`);
  }
  return frozen;
}

function freeze(pin: SkillPin, allowed: readonly SkillPin[], places: SkillPlaces): FrozenSkill {
  const { skill_id: id, content_sha256: hash } = pin;
  const path = locateSkill(id, places);
  if (path === undefined) {
    throw refusal(`${id.slice(0, 100)} is no skill id; those are personal:NAME and project:NAME`);
  }
  if (!isAllowed(allowed, pin)) {
    const known = allowed.some((entry) => entry.skill_id === id);
    throw refusal(
      known
        ? `${id} is allowed with another content_sha256 than ${hash.slice(0, 64)}`
        : `${id} is not in the allow-list`,
    );
  }
  const root = id.startsWith('personal:') ? places.home : places.project;
  const reading = readSkill(path, root);
  if (reading.kind === 'refused') throw refusal(`the SKILL.md of ${id} ${reading.reason}`);
  if (reading.skill.sha256 !== hash) {
    throw refusal(
      `the SKILL.md of ${id} has changed and its SHA-256 is ${reading.skill.sha256} now`,
    );
  }
  return { skill_id: id, content_sha256: hash, body: reading.skill.body };
}

function refusal(reason: string): ReinsError {
  return new ReinsError(
    'skill_refused',
    `No session was started over skill_contexts: ${reason}; "reins skills" on the computer shows what there is and the entries for REINS_SKILL_ALLOWLIST_JSON.`,
  );
}
