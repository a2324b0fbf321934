import * as z from 'zod';
import { parseJson } from '../base/parse-json.ts';
import { SKILL_ID } from './skill-id.ts';

const entrySchema = z.strictObject({
  skill_id: z.string().regex(SKILL_ID),
  content_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i)
    .transform((hash) => hash.toLowerCase()),
});
const listSchema = z.array(entrySchema).max(1_000);

/** How many skills a session takes. */
export const MAX_SKILLS = 8;

/** A skill and the one content of it that may be used. */
export type SkillPin = z.infer<typeof entrySchema>;

/** The user's list of skills; undefined for a text that is none. */
export function parseAllowList(text: string): readonly SkillPin[] | undefined {
  return listSchema.safeParse(parseJson(text)).data;
}

export function isAllowed(list: readonly SkillPin[], pin: SkillPin): boolean {
  return list.some(
    (entry) => entry.skill_id === pin.skill_id && entry.content_sha256 === pin.content_sha256,
  );
}
