import { canonicalJson, type Json } from '../base/canonical-json.ts';
import { ReinsError } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';

/** The last result of a page: results after it, in path and line order, make the next one. */
export interface SearchPosition {
  readonly path: Buffer;
  readonly line: number;
}

/** The parameters of a search other than its page. */
export type SearchQuestion = { readonly [parameter: string]: Json | undefined };

/** Length of a question's hash in a cursor, in hex digits. */
const HASH_DIGITS = 16;
/** Hash, line and path, each after the other. */
const CURSOR = /^([0-9a-f]{16}):(\d{1,16}):(\/.*)$/s;

/**
 * A cursor says where to go on and for which question; with another question it is refused. It is about a third longer
 * than the path in it, so the longest path fits into the limit of the parameter.
 */
export function encodeCursor(position: SearchPosition, question: SearchQuestion): string {
  const head = Buffer.from(`${questionHash(question)}:${position.line}:`);
  return Buffer.concat([head, position.path]).toString('base64url');
}

/** Throws `cursor_invalid` for a text that `encodeCursor` did not make for this very question. */
export function decodeCursor(
  cursor: string | undefined,
  question: SearchQuestion,
): SearchPosition | undefined {
  if (cursor === undefined) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  const [, hash, line, path = ''] = CURSOR.exec(bytes.toString('latin1')) ?? [];
  if (hash !== questionHash(question) || bytes.toString('base64url') !== cursor) {
    throw new ReinsError(
      'cursor_invalid',
      'cursor does not belong to this search; repeat the search without it, then use the cursor of that answer with the same parameters.',
    );
  }
  return { path: Buffer.from(path, 'latin1'), line: Number(line) };
}

function questionHash(question: SearchQuestion): string {
  const given = Object.entries(question).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return sha256(canonicalJson(Object.fromEntries(given))).slice(0, HASH_DIGITS);
}
