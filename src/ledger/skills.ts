import * as z from 'zod';
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

/** With their instructions. Throws `state_corrupt` for one that is not what was stored. */
export function readSkills(database: LedgerDatabase, session: SessionId): StoredSkill[] {
  return database
    .all(
      skillRow,
      'SELECT skill_id, content_sha256, body, body_sha256 FROM skills WHERE session_id=? ORDER BY ordinal',
      session,
    )
    .map(({ body_sha256: hash, ...skill }) => {
      if (sha256(skill.body) === hash) return skill;
      throw new ReinsError(
        'state_corrupt',
        `The instructions of ${skill.skill_id} in the ledger are not those that the session was started with; start a new session.`,
      );
    });
}
