import * as z from 'zod';
import { canonicalJson } from '../base/canonical-json.ts';
import {
  type ActionId,
  type ClaudeSessionId,
  isActionId,
  isClaudeSessionId,
  isSubsessionId,
  type SessionId,
  type SubsessionId,
} from '../base/ids.ts';
import {
  SUBSESSION_STATES,
  SUBSESSION_TABLE,
  type SubsessionEvent,
  type SubsessionState,
} from '../machine/subsession-machine.ts';
import { requireTransition } from '../machine/transition-table.ts';
import { instantColumn, jsonColumn } from './columns.ts';
import type { LedgerDatabase } from './database.ts';
import type { ProcessRecord } from './sessions.ts';

/** The names by which a model asks for one of the two routes. */
export const SUBAGENT_CLASSES = ['sonnet', 'opus', 'fable'] as const;
export type SubagentClass = (typeof SUBAGENT_CLASSES)[number];

/** Why a subsession ended otherwise than by finishing its task. */
export const SUBSESSION_OUTCOMES = [
  'endpoint_unreachable',
  'authentication_failed',
  'payment_required',
  'rate_limited',
  'endpoint_failed',
  'request_rejected',
  'answer_malformed',
  'answer_cut_off',
  'answer_refused',
  'turn_limit',
  'time_limit',
  'launch_failed',
  'claude_exited',
  'task_failed',
  'stopped_by_client',
  'session_ended',
  'runner_lost',
  'internal',
] as const;

const outcomeSchema = z.strictObject({ code: z.enum(SUBSESSION_OUTCOMES), message: z.string() });
export type SubsessionOutcome = z.infer<typeof outcomeSchema>;

/** One subtask: a Claude Code of its own with DeepSeek as its model, working in its session's worktree. */
export interface SubsessionRecord {
  readonly id: SubsessionId;
  readonly sessionId: SessionId;
  readonly ordinal: number;
  /** The action that started it, to whose turn its own actions belong. */
  readonly actionId: ActionId;
  readonly claudeSessionId: ClaudeSessionId;
  readonly modelClass: SubagentClass;
  readonly model: string;
  readonly task: string;
  readonly maxTurns: number;
  /** When it is ended at the latest. */
  readonly deadline: string;
  readonly state: SubsessionState;
  /** How many answers of the model it has had. */
  readonly turns: number;
  /** As the endpoint counts them. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly lastText: string;
  readonly outcome: SubsessionOutcome | null;
  readonly claude: ProcessRecord | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
}

const subsessionRow = z
  .strictObject({
    subsession_id: z.custom<SubsessionId>(isSubsessionId),
    session_id: z.custom<SessionId>((value) => typeof value === 'string'),
    ordinal: z.number().int().positive(),
    action_id: z.custom<ActionId>(isActionId),
    claude_session_id: z.custom<ClaudeSessionId>(isClaudeSessionId),
    model_class: z.enum(SUBAGENT_CLASSES),
    model: z.string(),
    task: jsonColumn(z.string()),
    max_turns: z.number().int().positive(),
    deadline: instantColumn,
    state: z.enum(SUBSESSION_STATES),
    turns: z.number().int().nonnegative(),
    input_tokens: z.number().int().nonnegative(),
    output_tokens: z.number().int().nonnegative(),
    last_text: jsonColumn(z.string()),
    outcome: jsonColumn(outcomeSchema).nullable(),
    claude_pid: z.number().int().positive().nullable(),
    claude_birth: z.string().nullable(),
    created_at: instantColumn,
    ended_at: instantColumn.nullable(),
  })
  .transform(
    (row): SubsessionRecord => ({
      id: row.subsession_id,
      sessionId: row.session_id,
      ordinal: row.ordinal,
      actionId: row.action_id,
      claudeSessionId: row.claude_session_id,
      modelClass: row.model_class,
      model: row.model,
      task: row.task,
      maxTurns: row.max_turns,
      deadline: row.deadline,
      state: row.state,
      turns: row.turns,
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      lastText: row.last_text,
      outcome: row.outcome,
      claude:
        row.claude_pid !== null && row.claude_birth !== null
          ? { pid: row.claude_pid, birth: row.claude_birth }
          : null,
      createdAt: row.created_at,
      endedAt: row.ended_at,
    }),
  );

export type NewSubsession = Pick<
  SubsessionRecord,
  | 'id'
  | 'sessionId'
  | 'actionId'
  | 'claudeSessionId'
  | 'modelClass'
  | 'model'
  | 'task'
  | 'maxTurns'
  | 'deadline'
>;

/** The schema allows one that has not ended per session: a second insert fails with the transaction around it. */
export function insertSubsession(
  database: LedgerDatabase,
  subsession: NewSubsession,
  at: string,
): void {
  database.run(
    `INSERT INTO subsessions (subsession_id, session_id, ordinal, action_id, claude_session_id, model_class, model, task,
       max_turns, deadline, state, turns, input_tokens, output_tokens, last_text, created_at)
     VALUES (?,?,(SELECT COUNT(*)+1 FROM subsessions WHERE session_id=?),?,?,?,?,?,?,?,'starting',0,0,0,'""',?)`,
    subsession.id,
    subsession.sessionId,
    subsession.sessionId,
    subsession.actionId,
    subsession.claudeSessionId,
    subsession.modelClass,
    subsession.model,
    canonicalJson(subsession.task),
    subsession.maxTurns,
    subsession.deadline,
    at,
  );
}

/** The latest ones, oldest first. */
export function listSubsessions(
  database: LedgerDatabase,
  session: SessionId,
  limit: number,
): SubsessionRecord[] {
  return database
    .all(
      subsessionRow,
      'SELECT * FROM subsessions WHERE session_id=? ORDER BY ordinal DESC LIMIT ?',
      session,
      limit,
    )
    .reverse();
}

export function findSubsession(
  database: LedgerDatabase,
  session: SessionId,
  id: SubsessionId,
): SubsessionRecord | undefined {
  return database.first(
    subsessionRow,
    'SELECT * FROM subsessions WHERE session_id=? AND subsession_id=?',
    session,
    id,
  );
}

/** The one that has not ended. */
export function findActiveSubsession(
  database: LedgerDatabase,
  session: SessionId,
): SubsessionRecord | undefined {
  return database.first(
    subsessionRow,
    `SELECT * FROM subsessions WHERE session_id=? AND state IN ('starting','running','stopping')`,
    session,
  );
}

/** Moves a subsession by an event of its machine. Throws `internal` if illegal. */
export function moveSubsession(
  database: LedgerDatabase,
  subsession: SubsessionRecord,
  event: SubsessionEvent,
): void {
  database.run(
    'UPDATE subsessions SET state=? WHERE subsession_id=?',
    requireTransition(SUBSESSION_TABLE, subsession.state, event),
    subsession.id,
  );
}

export function setSubsessionEnd(
  database: LedgerDatabase,
  id: SubsessionId,
  outcome: SubsessionOutcome | null,
  at: string,
): void {
  database.run(
    'UPDATE subsessions SET outcome=?, ended_at=?, claude_pid=NULL, claude_birth=NULL WHERE subsession_id=?',
    outcome === null ? null : canonicalJson(outcome),
    at,
    id,
  );
}

export function setSubsessionClaude(
  database: LedgerDatabase,
  id: SubsessionId,
  claude: ProcessRecord,
): void {
  database.run(
    'UPDATE subsessions SET claude_pid=?, claude_birth=? WHERE subsession_id=?',
    claude.pid,
    claude.birth,
    id,
  );
}

/** Counts in what was paid for and thrown away. */
export function addSubsessionTokens(
  database: LedgerDatabase,
  id: SubsessionId,
  tokens: { readonly inputTokens: number; readonly outputTokens: number },
): void {
  database.run(
    'UPDATE subsessions SET input_tokens=input_tokens+?, output_tokens=output_tokens+? WHERE subsession_id=?',
    tokens.inputTokens,
    tokens.outputTokens,
    id,
  );
}

/** Counts an answer of the model in. */
export function addSubsessionTurn(
  database: LedgerDatabase,
  id: SubsessionId,
  answer: {
    readonly text: string;
    readonly inputTokens: number;
    readonly outputTokens: number;
  },
): void {
  database.run(
    `UPDATE subsessions SET turns=turns+1, last_text=CASE WHEN ?='""' THEN last_text ELSE ? END,
       input_tokens=input_tokens+?, output_tokens=output_tokens+? WHERE subsession_id=?`,
    canonicalJson(answer.text),
    canonicalJson(answer.text),
    answer.inputTokens,
    answer.outputTokens,
    id,
  );
}
