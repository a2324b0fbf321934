import * as z from 'zod';
import { canonicalJson, type JsonObject } from '../base/canonical-json.ts';
import {
  type ActionId,
  isActionId,
  isSubsessionId,
  isToolUseId,
  isTurnId,
  type SessionId,
  type SubsessionId,
  type ToolUseId,
  type TurnId,
} from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';
import { ACTION_STATES, ACTION_TABLE, type ActionState } from '../machine/action-machine.ts';
import { requireTransition } from '../machine/transition-table.ts';
import { instantColumn, jsonColumn } from './columns.ts';
import type { LedgerDatabase } from './database.ts';

export const receiptSchema = z.strictObject({
  text: z.string(),
  is_error: z.boolean(),
  truncated: z.boolean(),
  code: z.string().nullable(),
});
/** What the executor answered: exactly this is repeated when the same call comes again. */
export type Receipt = z.infer<typeof receiptSchema>;

export interface ActionRecord {
  readonly id: ActionId;
  readonly turnId: TurnId;
  /** Counts the calls of the turn's reply, then those of a subagent that the reply started. */
  readonly ordinal: number;
  /** The subagent whose call it is; null for a call of the session's client. */
  readonly subsessionId: SubsessionId | null;
  readonly tool: string;
  readonly toolUseId: ToolUseId;
  readonly input: JsonObject;
  readonly inputSha256: string;
  readonly state: ActionState;
  /** Absolute path of the file that was read or changed, when there is exactly one. */
  readonly path: string | null;
  /** Null before a change that creates the file. */
  readonly beforeSha256: string | null;
  readonly beforeMode: number | null;
  /** For a read, the content that was seen; for a change, the content that was written. */
  readonly afterSha256: string | null;
  readonly receipt: Receipt | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const actionRow = z
  .strictObject({
    action_id: z.custom<ActionId>(isActionId),
    session_id: z.string(),
    turn_id: z.custom<TurnId>(isTurnId),
    ordinal: z.number().int().nonnegative(),
    subsession_id: z.custom<SubsessionId>(isSubsessionId).nullable(),
    tool: z.string(),
    tool_use_id: z.custom<ToolUseId>(isToolUseId),
    input: jsonColumn(z.record(z.string(), z.json())),
    input_sha256: z.string().length(64),
    state: z.enum(ACTION_STATES),
    path: z.string().nullable(),
    before_sha256: z.string().length(64).nullable(),
    before_mode: z.number().int().nullable(),
    after_sha256: z.string().length(64).nullable(),
    receipt: jsonColumn(receiptSchema).nullable(),
    created_at: instantColumn,
    updated_at: instantColumn,
  })
  .transform(
    (row): ActionRecord => ({
      id: row.action_id,
      turnId: row.turn_id,
      ordinal: row.ordinal,
      subsessionId: row.subsession_id,
      tool: row.tool,
      toolUseId: row.tool_use_id,
      input: row.input,
      inputSha256: row.input_sha256,
      state: row.state,
      path: row.path,
      beforeSha256: row.before_sha256,
      beforeMode: row.before_mode,
      afterSha256: row.after_sha256,
      receipt: row.receipt,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    }),
  );

/** Whether an action replaces or creates a file. A look has no content from before and creates nothing. */
export function changesFile(action: ActionRecord): boolean {
  return action.afterSha256 !== null && (action.beforeMode !== null || action.tool === 'Write');
}

export interface NewAction {
  readonly id: ActionId;
  readonly toolUseId: ToolUseId;
  readonly tool: string;
  readonly input: JsonObject;
}

/** Inserts the calls of one reply as `authorized`, in the order given and behind those that the turn has already. */
export function insertActions(
  database: LedgerDatabase,
  session: SessionId,
  turn: TurnId,
  actions: readonly NewAction[],
  at: string,
  subsession: SubsessionId | null = null,
): void {
  for (const action of actions) {
    const input = canonicalJson(action.input);
    database.run(
      `INSERT INTO actions (action_id, session_id, turn_id, ordinal, subsession_id, tool, tool_use_id, input, input_sha256, state, created_at, updated_at)
       VALUES (?,?,?,(SELECT COUNT(*) FROM actions WHERE turn_id=?),?,?,?,?,?,'authorized',?,?)`,
      action.id,
      session,
      turn,
      turn,
      subsession,
      action.tool,
      action.toolUseId,
      input,
      sha256(input),
      at,
      at,
    );
  }
}

export function findActionByToolUse(
  database: LedgerDatabase,
  session: SessionId,
  toolUseId: ToolUseId,
): ActionRecord | undefined {
  return database.first(
    actionRow,
    'SELECT * FROM actions WHERE session_id=? AND tool_use_id=?',
    session,
    toolUseId,
  );
}

export function findAction(database: LedgerDatabase, id: ActionId): ActionRecord | undefined {
  return database.first(actionRow, 'SELECT * FROM actions WHERE action_id=?', id);
}

/** All actions of a session in the order in which they were authorised. */
export function listActions(database: LedgerDatabase, session: SessionId): ActionRecord[] {
  return database.all(
    actionRow,
    `SELECT a.* FROM actions a JOIN turns t ON t.turn_id=a.turn_id
     WHERE a.session_id=? ORDER BY t.sequence, a.ordinal`,
    session,
  );
}

/** Actions that have neither a receipt nor an end: authorised or prepared when something stopped. */
export function listOpenActions(database: LedgerDatabase, session: SessionId): ActionRecord[] {
  return database.all(
    actionRow,
    `SELECT * FROM actions WHERE session_id=? AND state IN ('authorized','prepared','unknown','undoing') ORDER BY created_at, ordinal`,
    session,
  );
}

/** Throws `internal` when another process has moved the action since `action` was read; nothing is written then. */
function requireMoved(changes: number, action: ActionRecord): void {
  if (changes === 1) return;
  throw new ReinsError(
    'internal',
    `Action ${action.id} was settled by another process meanwhile; look at it again.`,
  );
}

/** Moves an action by an event that changes its state alone. Throws `internal` if illegal. */
export function moveAction(
  database: LedgerDatabase,
  action: ActionRecord,
  event: 'prepared' | 'lost_track' | 'undo_prepared' | 'undone' | 'undo_failed',
  at: string,
): void {
  const changes = database.run(
    'UPDATE actions SET state=?, updated_at=? WHERE action_id=? AND state=?',
    requireTransition(ACTION_TABLE, action.state, event),
    at,
    action.id,
    action.state,
  );
  requireMoved(changes, action);
}

export interface PreparedChange {
  readonly path: string;
  readonly beforeSha256: string | null;
  readonly beforeMode: number | null;
  readonly afterSha256: string;
}

/** Records what is about to be replaced by what. Throws `internal` if the action may not be prepared. */
export function prepareAction(
  database: LedgerDatabase,
  action: ActionRecord,
  change: PreparedChange,
  at: string,
): void {
  const changes = database.run(
    'UPDATE actions SET state=?, path=?, before_sha256=?, before_mode=?, after_sha256=?, updated_at=? WHERE action_id=? AND state=?',
    requireTransition(ACTION_TABLE, action.state, 'prepared'),
    change.path,
    change.beforeSha256,
    change.beforeMode,
    change.afterSha256,
    at,
    action.id,
    action.state,
  );
  requireMoved(changes, action);
}

/** Which content of which file a look saw, so that a later change can tell whether it is still there. */
export interface SeenContent {
  readonly path: string;
  readonly sha256: string;
}

/** Ends an action with the receipt that every repetition of its call gets. Throws `internal` if illegal. */
export function endAction(
  database: LedgerDatabase,
  action: ActionRecord,
  event: 'applied' | 'failed' | 'refused',
  receipt: Receipt,
  at: string,
  seen?: SeenContent,
): void {
  const changes = database.run(
    'UPDATE actions SET state=?, receipt=?, path=?, after_sha256=?, updated_at=? WHERE action_id=? AND state=?',
    requireTransition(ACTION_TABLE, action.state, event),
    canonicalJson(receipt),
    seen?.path ?? action.path,
    seen?.sha256 ?? action.afterSha256,
    at,
    action.id,
    action.state,
  );
  requireMoved(changes, action);
}

const observedRow = z.strictObject({ after_sha256: z.string().length(64) });

/**
 * The content of `path` that the session's client, or its subagent with this id, saw or wrote last; undefined when it
 * never did. Neither has seen what the other wrote.
 */
export function findLastSeenContent(
  database: LedgerDatabase,
  session: SessionId,
  subsession: SubsessionId | null,
  path: string,
): string | undefined {
  return database.first(
    observedRow,
    `SELECT after_sha256 FROM actions WHERE session_id=? AND subsession_id IS ? AND path=? AND state='applied' AND after_sha256 IS NOT NULL
     ORDER BY updated_at DESC, rowid DESC LIMIT 1`,
    session,
    subsession,
    path,
  )?.after_sha256;
}
