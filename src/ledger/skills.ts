import * as z from 'zod';
import { canonicalJson, type JsonObject } from '../base/canonical-json.ts';
import type { SessionId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';
import type { LedgerDatabase } from './database.ts';

/** A skill of a session, without its instructions. */
export interface SkillReference {
  readonly skill_id: string;
  /** Of the whole SKILL.md, as the user's allow-list pins it. */
  readonly content_sha256: string;
}

/** A skill of a session, as it was when the session was created. */
export interface StoredSkill extends SkillReference {
  readonly body: string;
}

const referenceRow = z.strictObject({ skill_id: z.string(), content_sha256: z.string() });

const skillRow = z.strictObject({
  skill_id: z.string(),
  content_sha256: z.string(),
  body: z.string(),
  body_sha256: z.string(),
});

export function insertSkills(
  database: LedgerDatabase,
  session: SessionId,
  skills: readonly StoredSkill[],
): void {
  skills.forEach((skill, ordinal) => {
    database.run(
      'INSERT INTO skills (session_id, ordinal, skill_id, content_sha256, body, body_sha256) VALUES (?,?,?,?,?,?)',
      session,
      ordinal,
      skill.skill_id,
      skill.content_sha256,
      skill.body,
      sha256(skill.body),
    );
  });
}

/** In the order in which they were asked for. */
export function listSkillReferences(
  database: LedgerDatabase,
  session: SessionId,
): SkillReference[] {
  return database.all(
    referenceRow,
    'SELECT skill_id, content_sha256 FROM skills WHERE session_id=? ORDER BY ordinal',
    session,
  );
}

/** What was recorded of the skills when the session was created, in order. */
const createdSchema = z.looseObject({
  skills: z.array(referenceRow.extend({ body_sha256: z.string() })).default([]),
});

/**
 * With their instructions. `created` is the data of the session's first event, which vouches for them. Throws
 * `state_corrupt` when there are others, or they say something else, than then.
 */
export function readSkills(
  database: LedgerDatabase,
  session: SessionId,
  created: JsonObject,
): StoredSkill[] {
  const rows = database.all(
    skillRow,
    'SELECT skill_id, content_sha256, body, body_sha256 FROM skills WHERE session_id=? ORDER BY ordinal',
    session,
  );
  const { skills } = createdSchema.parse(created);
  const actual = rows.map(({ body, body_sha256: _stored, ...reference }) => ({
    ...reference,
    body_sha256: sha256(body),
  }));
  if (canonicalJson(actual) === canonicalJson(skills)) {
    return rows.map(({ body_sha256: _hash, ...skill }) => skill);
  }
  throw new ReinsError(
    'state_corrupt',
    'The instructions of its skills in the ledger are not those that the session was started with; end it with native_session_stop and start a new one.',
  );
}
