import * as z from 'zod';
import { isRunId, isTurnId, type RunId, type SessionId, type TurnId } from '../base/ids.ts';
import { requireTransition } from '../machine/transition-table.ts';
import {
  TURN_STATES,
  TURN_TABLE,
  type TurnEvent,
  type TurnState,
} from '../machine/turn-machine.ts';
import { instantColumn, jsonColumn } from './columns.ts';
import type { LedgerDatabase } from './database.ts';

/** What the request that became this turn wants: the next step, or a summary that replaces the conversation so far. */
export const TURN_PURPOSES = ['step', 'compaction'] as const;
export type TurnPurpose = (typeof TURN_PURPOSES)[number];

export const turnMessageSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('task'), text: z.string() }),
  z.strictObject({ kind: z.literal('text'), text: z.string() }),
  z.strictObject({ kind: z.literal('notice'), text: z.string() }),
  z.strictObject({
    kind: z.literal('tool_result'),
    tool: z.string(),
    call_id: z.string(),
    is_error: z.boolean(),
    text: z.string(),
    truncated: z.boolean(),
  }),
]);
/** One thing that the client has not seen yet, in the order in which Claude Code sent it. */
export type TurnMessage = z.infer<typeof turnMessageSchema>;

export interface TurnRecord {
  readonly id: TurnId;
  readonly runId: RunId;
  readonly sequence: number;
  readonly purpose: TurnPurpose;
  readonly state: TurnState;
  readonly requestSha256: string;
  readonly messages: readonly TurnMessage[];
  readonly fullContext: boolean;
  readonly replyText: string | null;
  readonly createdAt: string;
  readonly answeredAt: string | null;
}

const turnRow = z
  .strictObject({
    turn_id: z.custom<TurnId>(isTurnId),
    session_id: z.string(),
    run_id: z.custom<RunId>(isRunId),
    sequence: z.number().int().positive(),
    purpose: z.enum(TURN_PURPOSES),
    state: z.enum(TURN_STATES),
    request_sha256: z.string().length(64),
    messages: jsonColumn(z.array(turnMessageSchema)),
    full_context: z.union([z.literal(0), z.literal(1)]),
    reply_text: jsonColumn(z.string()).nullable(),
    reply_fingerprint: z.string().nullable(),
    created_at: instantColumn,
    answered_at: instantColumn.nullable(),
  })
  .transform(
    (row): TurnRecord => ({
      id: row.turn_id,
      runId: row.run_id,
      sequence: row.sequence,
      purpose: row.purpose,
      state: row.state,
      requestSha256: row.request_sha256,
      messages: row.messages,
      fullContext: row.full_context === 1,
      replyText: row.reply_text,
      createdAt: row.created_at,
      answeredAt: row.answered_at,
    }),
  );

export interface NewTurn {
  readonly id: TurnId;
  readonly runId: RunId;
  readonly purpose: TurnPurpose;
  readonly requestSha256: string;
  readonly messages: readonly TurnMessage[];
  readonly fullContext: boolean;
}

export function insertTurn(
  database: LedgerDatabase,
  session: SessionId,
  turn: NewTurn,
  at: string,
): void {
  database.run(
    `INSERT INTO turns (turn_id, session_id, run_id, sequence, purpose, state, request_sha256, messages, full_context, created_at)
     SELECT ?, ?, ?, COALESCE(MAX(sequence), 0) + 1, ?, 'pending', ?, ?, ?, ? FROM turns WHERE session_id=?`,
    turn.id,
    session,
    turn.runId,
    turn.purpose,
    turn.requestSha256,
    JSON.stringify(turn.messages),
    turn.fullContext ? 1 : 0,
    at,
    session,
  );
}

export function findTurn(
  database: LedgerDatabase,
  session: SessionId,
  id: TurnId,
): TurnRecord | undefined {
  return database.first(
    turnRow,
    'SELECT * FROM turns WHERE session_id=? AND turn_id=?',
    session,
    id,
  );
}

export function findLatestTurn(
  database: LedgerDatabase,
  session: SessionId,
): TurnRecord | undefined {
  return database.first(
    turnRow,
    'SELECT * FROM turns WHERE session_id=? ORDER BY sequence DESC LIMIT 1',
    session,
  );
}

export function listTurns(database: LedgerDatabase, session: SessionId): TurnRecord[] {
  return database.all(turnRow, 'SELECT * FROM turns WHERE session_id=? ORDER BY sequence', session);
}

/** Moves a turn by an event of its machine. Throws `internal` if illegal. */
export function moveTurn(database: LedgerDatabase, turn: TurnRecord, event: TurnEvent): void {
  const state = requireTransition(TURN_TABLE, turn.state, event);
  database.run('UPDATE turns SET state=? WHERE turn_id=?', state, turn.id);
}

export function setTurnFullContext(database: LedgerDatabase, id: TurnId): void {
  database.run('UPDATE turns SET full_context=1 WHERE turn_id=?', id);
}

/** Answers a turn: stores the reply and the fingerprint by which it is recognised in Claude Code's later requests. */
export function answerTurn(
  database: LedgerDatabase,
  turn: TurnRecord,
  reply: { readonly text: string | null; readonly fingerprint: string },
  at: string,
): void {
  moveTurn(database, turn, 'answered');
  database.run(
    'UPDATE turns SET reply_text=?, reply_fingerprint=?, answered_at=? WHERE turn_id=?',
    reply.text === null ? null : JSON.stringify(reply.text),
    reply.fingerprint,
    at,
    turn.id,
  );
}

const foundRow = z.strictObject({ found: z.literal(1) });

/** Whether this session's client has ever given the reply with this fingerprint. */
export function hasReply(
  database: LedgerDatabase,
  session: SessionId,
  fingerprint: string,
): boolean {
  const row = database.first(
    foundRow,
    'SELECT 1 AS found FROM turns WHERE session_id=? AND reply_fingerprint=? LIMIT 1',
    session,
    fingerprint,
  );
  return row !== undefined;
}
