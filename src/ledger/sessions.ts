import * as z from 'zod';
import { canonicalJson, type JsonObject } from '../base/canonical-json.ts';
import {
  type ClaudeSessionId,
  isClaudeSessionId,
  isLeaseId,
  isRunnerId,
  isSessionId,
  type LeaseId,
  type RunnerId,
  type SessionId,
} from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import {
  SESSION_STATUSES,
  SESSION_TABLE,
  type SessionEvent,
  type SessionStatus,
} from '../machine/session-machine.ts';
import { requireTransition } from '../machine/transition-table.ts';
import { instantColumn, jsonColumn } from './columns.ts';
import type { LedgerDatabase } from './database.ts';

export const CAPABILITY_PROFILES = ['read_only', 'direct_write', 'worktree_write'] as const;
export type CapabilityProfile = (typeof CAPABILITY_PROFILES)[number];

export const SUBAGENT_POLICIES = ['none', 'deepseek_explicit'] as const;
export type SubagentPolicy = (typeof SUBAGENT_POLICIES)[number];

/** A process of a session. `birth` distinguishes it from a later process with the same pid. */
export interface ProcessRecord {
  readonly pid: number;
  readonly birth: string;
}

/** Which process serves a session. */
export interface RunnerRecord extends ProcessRecord {
  readonly id: RunnerId;
}

const lastResultSchema = z.strictObject({
  run_id: z.string(),
  is_error: z.boolean(),
  text: z.string(),
  truncated: z.boolean(),
});
/** How the latest finished run ended; `text` is the client's own final text, or what went wrong. */
export type LastResult = z.infer<typeof lastResultSchema>;

const launchErrorSchema = z.strictObject({ code: z.string(), message: z.string() });
export type LaunchErrorRecord = z.infer<typeof launchErrorSchema>;

const stopRequestSchema = z.strictObject({
  request_id: z.string(),
  reason: z.string().nullable(),
  at: z.string(),
});
export type StopRequest = z.infer<typeof stopRequestSchema>;

const boundarySchema = z.strictObject({ enforced: z.boolean(), detail: z.string() });
/** What keeps the session's processes in, as its runner found it when it started them. */
export type Boundary = z.infer<typeof boundarySchema>;

const worktreeSchema = z.strictObject({
  /** Top level of the repository that the worktree was taken from. */
  source: z.string(),
  /** The repository's Git directory, shared by all its worktrees. */
  common_directory: z.string(),
  /** The worktree itself: the session's write root. */
  path: z.string(),
  head: z.string(),
  /** The branch that was checked out in the source; the worktree itself is on none. */
  branch: z.string().nullable(),
  state: z.enum(['planned', 'ready', 'removed']),
});
export type WorktreeRecord = z.infer<typeof worktreeSchema>;

export interface SessionRecord {
  readonly id: SessionId;
  readonly claudeSessionId: ClaudeSessionId;
  readonly label: string | null;
  readonly profile: CapabilityProfile;
  readonly subagentPolicy: SubagentPolicy;
  readonly workingDirectory: string;
  readonly status: SessionStatus;
  readonly revision: number;
  readonly leaseId: LeaseId;
  readonly leaseSeconds: number;
  readonly leaseExpiresAt: string;
  readonly runner: RunnerRecord | null;
  /** The Claude Code that the runner started; it can outlive a runner that was killed. */
  readonly claude: ProcessRecord | null;
  /** The process that is undoing changes of the session right now. */
  readonly undoer: ProcessRecord | null;
  readonly launchError: LaunchErrorRecord | null;
  readonly lastResult: LastResult | null;
  readonly stopRequest: StopRequest | null;
  /** Null until a runner has started Claude Code. */
  readonly boundary: Boundary | null;
  /** For a `worktree_write` session. */
  readonly worktree: WorktreeRecord | null;
  /** Whether whoever answers may not have seen rules, skills and tools yet: the next turn is then shown in full. */
  readonly fullContextDue: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const sessionRow = z
  .strictObject({
    session_id: z.custom<SessionId>(isSessionId),
    claude_session_id: z.custom<ClaudeSessionId>(isClaudeSessionId),
    label: z.string().nullable(),
    capability_profile: z.enum(CAPABILITY_PROFILES),
    subagent_policy: z.enum(SUBAGENT_POLICIES),
    working_directory: z.string(),
    status: z.enum(SESSION_STATUSES),
    revision: z.number().int().nonnegative(),
    lease_id: z.custom<LeaseId>(isLeaseId),
    lease_seconds: z.number().int().positive(),
    lease_expires_at: instantColumn,
    runner_id: z.custom<RunnerId>(isRunnerId).nullable(),
    runner_pid: z.number().int().positive().nullable(),
    runner_birth: z.string().nullable(),
    claude_pid: z.number().int().positive().nullable(),
    claude_birth: z.string().nullable(),
    undoer_pid: z.number().int().positive().nullable(),
    undoer_birth: z.string().nullable(),
    launch_error: jsonColumn(launchErrorSchema).nullable(),
    last_result: jsonColumn(lastResultSchema).nullable(),
    stop_request: jsonColumn(stopRequestSchema).nullable(),
    boundary: jsonColumn(boundarySchema).nullable(),
    worktree: jsonColumn(worktreeSchema).nullable(),
    full_context_due: z.union([z.literal(0), z.literal(1)]),
    created_at: instantColumn,
    updated_at: instantColumn,
  })
  .transform(
    (row): SessionRecord => ({
      id: row.session_id,
      claudeSessionId: row.claude_session_id,
      label: row.label,
      profile: row.capability_profile,
      subagentPolicy: row.subagent_policy,
      workingDirectory: row.working_directory,
      status: row.status,
      revision: row.revision,
      leaseId: row.lease_id,
      leaseSeconds: row.lease_seconds,
      leaseExpiresAt: row.lease_expires_at,
      runner:
        row.runner_id !== null && row.runner_pid !== null && row.runner_birth !== null
          ? { id: row.runner_id, pid: row.runner_pid, birth: row.runner_birth }
          : null,
      claude:
        row.claude_pid !== null && row.claude_birth !== null
          ? { pid: row.claude_pid, birth: row.claude_birth }
          : null,
      undoer:
        row.undoer_pid !== null && row.undoer_birth !== null
          ? { pid: row.undoer_pid, birth: row.undoer_birth }
          : null,
      launchError: row.launch_error,
      lastResult: row.last_result,
      stopRequest: row.stop_request,
      boundary: row.boundary,
      worktree: row.worktree,
      fullContextDue: row.full_context_due === 1,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    }),
  );

export function insertSession(
  database: LedgerDatabase,
  session: Omit<
    SessionRecord,
    | 'revision'
    | 'runner'
    | 'claude'
    | 'undoer'
    | 'launchError'
    | 'lastResult'
    | 'stopRequest'
    | 'boundary'
    | 'fullContextDue'
    | 'updatedAt'
  >,
): void {
  database.run(
    `INSERT INTO sessions (session_id, claude_session_id, label, capability_profile, subagent_policy,
       working_directory, status, revision, lease_id, lease_seconds, lease_expires_at, worktree, created_at, updated_at)
     VALUES (?,?,?,?,?,?,?,0,?,?,?,?,?,?)`,
    session.id,
    session.claudeSessionId,
    session.label,
    session.profile,
    session.subagentPolicy,
    session.workingDirectory,
    session.status,
    session.leaseId,
    session.leaseSeconds,
    session.leaseExpiresAt,
    session.worktree === null ? null : canonicalJson(session.worktree),
    session.createdAt,
    session.createdAt,
  );
}

export function findSession(database: LedgerDatabase, id: SessionId): SessionRecord | undefined {
  return database.first(sessionRow, 'SELECT * FROM sessions WHERE session_id=?', id);
}

/** Newest first. */
export function listSessions(database: LedgerDatabase, limit: number): SessionRecord[] {
  return database.all(sessionRow, 'SELECT * FROM sessions ORDER BY created_at DESC LIMIT ?', limit);
}

/** Moves a session by an event of its machine and returns the status it is in then. Throws `internal` if illegal. */
export function moveSession(
  database: LedgerDatabase,
  id: SessionId,
  event: SessionEvent,
): SessionStatus {
  const row = database.first(statusRow, 'SELECT status FROM sessions WHERE session_id=?', id);
  if (row === undefined) throw new ReinsError('session_unknown', `There is no session ${id}.`);
  const status = requireTransition(SESSION_TABLE, row.status, event);
  database.run('UPDATE sessions SET status=? WHERE session_id=?', status, id);
  return status;
}

const statusRow = z.strictObject({ status: z.enum(SESSION_STATUSES) });

export function setSessionRunner(
  database: LedgerDatabase,
  id: SessionId,
  runner: RunnerRecord | null,
): void {
  database.run(
    'UPDATE sessions SET runner_id=?, runner_pid=?, runner_birth=? WHERE session_id=?',
    runner?.id ?? null,
    runner?.pid ?? null,
    runner?.birth ?? null,
    id,
  );
}

export function setSessionClaude(
  database: LedgerDatabase,
  id: SessionId,
  claude: ProcessRecord | null,
): void {
  database.run(
    'UPDATE sessions SET claude_pid=?, claude_birth=? WHERE session_id=?',
    claude?.pid ?? null,
    claude?.birth ?? null,
    id,
  );
}

export function setFullContextDue(database: LedgerDatabase, id: SessionId, due: boolean): void {
  database.run('UPDATE sessions SET full_context_due=? WHERE session_id=?', due ? 1 : 0, id);
}

export function setSessionUndoer(
  database: LedgerDatabase,
  id: SessionId,
  undoer: ProcessRecord | null,
): void {
  database.run(
    'UPDATE sessions SET undoer_pid=?, undoer_birth=? WHERE session_id=?',
    undoer?.pid ?? null,
    undoer?.birth ?? null,
    id,
  );
}

export function setSessionLease(
  database: LedgerDatabase,
  id: SessionId,
  leaseId: LeaseId,
  expiresAt: string,
): void {
  database.run(
    'UPDATE sessions SET lease_id=?, lease_expires_at=? WHERE session_id=?',
    leaseId,
    expiresAt,
    id,
  );
}

/** Sets one of the records that tell of a session's processes and runs; null clears it. */
export function setSessionNote(
  database: LedgerDatabase,
  id: SessionId,
  column: 'launch_error' | 'last_result' | 'stop_request' | 'boundary' | 'worktree',
  value: JsonObject | null,
): void {
  database.run(
    `UPDATE sessions SET ${column}=? WHERE session_id=?`,
    value === null ? null : canonicalJson(value),
    id,
  );
}
