import * as z from 'zod';
import { canonicalJson, type Json } from '../base/canonical-json.ts';
import { parseJson } from '../base/parse-json.ts';
import { ReinsError } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';

/** The last result of a page: results after it, in path and line order, make the next one. */
export interface SearchPosition {
  readonly path: string;
  readonly line: number;
}

/** The parameters of a search other than its page. */
export type SearchQuestion = { readonly [parameter: string]: Json | undefined };

const cursorSchema = z.strictObject({
  path: z.string(),
  line: z.int().nonnegative(),
  query: z.string().length(16),
});

/** A cursor says where to go on and for which question; with another question it is refused. */
export function encodeCursor(position: SearchPosition, question: SearchQuestion): string {
  const value = { ...position, query: questionHash(question) };
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Throws `cursor_invalid` for a text that `encodeCursor` did not make for this very question. */
export function decodeCursor(
  cursor: string | undefined,
  question: SearchQuestion,
): SearchPosition | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const parsed = cursorSchema.safeParse(parseJson(text));
  if (!parsed.success || parsed.data.query !== questionHash(question)) {
    throw new ReinsError(
      'cursor_invalid',
      'cursor does not belong to this search; repeat the search without it, then use the cursor of that answer with the same parameters.',
    );
  }
  return { path: parsed.data.path, line: parsed.data.line };
}

function questionHash(question: SearchQuestion): string {
  const given = Object.entries(question).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return sha256(canonicalJson(Object.fromEntries(given))).slice(0, 16);
}
