import * as z from 'zod';
import { canonicalJson, type JsonObject } from '../base/canonical-json.ts';
import type { SessionId } from '../base/ids.ts';
import { sha256 } from '../base/sha256.ts';
import { instantColumn, jsonColumn } from './columns.ts';
import type { LedgerDatabase } from './database.ts';

/** Everything that can happen to a session, in the past tense. The timeline, the views and exports are made of these. */
export const EVENT_KINDS = [
  'session_created',
  'runner_attached',
  'runner_lost',
  'run_queued',
  'run_started',
  'run_completed',
  'run_failed',
  'launch_failed',
  'turn_presented',
  'turn_abandoned',
  'reply_accepted',
  'action_prepared',
  'action_applied',
  'action_failed',
  'action_refused',
  'action_unknown',
  'action_resolved',
  'undo_prepared',
  'action_undone',
  'undo_failed',
  'stray_call_refused',
  'lease_rotated',
  'lease_expired',
  'stop_requested',
  'session_stopped',
  'subagent_started',
  'subagent_launched',
  'subagent_answered',
  'subagent_stopping',
  'subagent_ended',
  'worktree_created',
  'worktree_removed',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

export interface EventRecord {
  readonly sequence: number;
  readonly at: string;
  readonly kind: EventKind;
  readonly data: JsonObject;
  readonly previousHash: string;
  readonly hash: string;
}

/** The hash that the first event of every session points back to. */
export const CHAIN_START = '0'.repeat(64);

const eventRow = z
  .strictObject({
    sequence: z.number().int().positive(),
    at: instantColumn,
    kind: z.enum(EVENT_KINDS),
    data: jsonColumn(z.record(z.string(), z.json())),
    previous_hash: z.string().length(64),
    hash: z.string().length(64),
  })
  .transform(
    (row): EventRecord => ({
      sequence: row.sequence,
      at: row.at,
      kind: row.kind,
      data: row.data,
      previousHash: row.previous_hash,
      hash: row.hash,
    }),
  );

const lastEventRow = z.strictObject({
  sequence: z.number().int().positive(),
  hash: z.string().length(64),
});

const EVENT_COLUMNS = 'sequence, at, kind, data, previous_hash, hash';

/**
 * Appends one event, hash-chained to the session's last one, and raises the session's revision. Call it inside
 * the transaction that makes the change which it tells of.
 */
export function appendEvent(
  database: LedgerDatabase,
  session: SessionId,
  kind: EventKind,
  data: JsonObject,
  at: string,
): void {
  const last = database.first(
    lastEventRow,
    'SELECT sequence, hash FROM events WHERE session_id=? ORDER BY sequence DESC LIMIT 1',
    session,
  );
  const sequence = (last?.sequence ?? 0) + 1;
  const previousHash = last?.hash ?? CHAIN_START;
  const hash = hashEvent(session, { sequence, at, kind, data, previousHash });
  database.run(
    'INSERT INTO events (session_id, sequence, at, kind, data, previous_hash, hash) VALUES (?,?,?,?,?,?,?)',
    session,
    sequence,
    at,
    kind,
    canonicalJson(data),
    previousHash,
    hash,
  );
  database.run(
    'UPDATE sessions SET revision=revision+1, updated_at=? WHERE session_id=?',
    at,
    session,
  );
}

/** SHA-256 over every field of the event, its session and the hash before it. */
export function hashEvent(session: SessionId, event: Omit<EventRecord, 'hash'>): string {
  return sha256(
    canonicalJson({
      session,
      sequence: event.sequence,
      at: event.at,
      kind: event.kind,
      data: event.data,
      previous: event.previousHash,
    }),
  );
}

/** The session's first event. */
export function findCreation(
  database: LedgerDatabase,
  session: SessionId,
): EventRecord | undefined {
  return database.first(
    eventRow,
    `SELECT ${EVENT_COLUMNS} FROM events WHERE session_id=? AND sequence=1`,
    session,
  );
}

/** The session's events in order. */
export function listEvents(database: LedgerDatabase, session: SessionId): EventRecord[] {
  return database.all(
    eventRow,
    `SELECT ${EVENT_COLUMNS} FROM events WHERE session_id=? ORDER BY sequence`,
    session,
  );
}
