import * as z from 'zod';
import { canonicalJson, type JsonObject } from '../base/canonical-json.ts';
import { ReinsError } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';
import { instantColumn, jsonColumn } from './columns.ts';
import type { LedgerDatabase } from './database.ts';

/** The five calls that carry a key of the caller's choice, named after the parameter that carries it. */
export type RequestKind = 'start' | 'continue' | 'recover' | 'reply' | 'stop';

export interface RequestKey {
  /** The session that the key belongs to, or `gateway` for a start, which has none yet. */
  readonly scope: string;
  readonly kind: RequestKind;
  readonly key: string;
}

const requestRow = z.strictObject({
  input_sha256: z.string().length(64),
  outcome: jsonColumn(z.record(z.string(), z.json())),
  created_at: instantColumn,
});

/**
 * The stored outcome of an earlier call with this key, or undefined when the key is new. Throws
 * `idempotency_conflict` when the key was used with other input. Call it inside the transaction that acts.
 */
export function findRequest(
  database: LedgerDatabase,
  key: RequestKey,
  input: JsonObject,
): JsonObject | undefined {
  const row = database.first(
    requestRow,
    'SELECT input_sha256, outcome, created_at FROM requests WHERE scope=? AND kind=? AND key=?',
    key.scope,
    key.kind,
    key.key,
  );
  if (row === undefined) return undefined;
  if (row.input_sha256 === sha256(canonicalJson(input))) return row.outcome;
  throw new ReinsError(
    'idempotency_conflict',
    `The key "${key.key}" was already used for another ${key.kind} at ${row.created_at}; repeat the same input to get its outcome, or choose a new key for a new request.`,
  );
}

/** Records what the call with this key came to, so that a repetition does nothing twice. */
export function recordRequest(
  database: LedgerDatabase,
  key: RequestKey,
  input: JsonObject,
  outcome: JsonObject,
  at: string,
): void {
  database.run(
    'INSERT INTO requests (scope, kind, key, input_sha256, outcome, created_at) VALUES (?,?,?,?,?,?)',
    key.scope,
    key.kind,
    key.key,
    sha256(canonicalJson(input)),
    canonicalJson(outcome),
    at,
  );
}
