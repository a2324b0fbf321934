import * as z from 'zod';
import type { JsonObject } from '../base/canonical-json.ts';
import {
  isLeaseId,
  isSessionId,
  type LeaseId,
  mintClaudeSessionId,
  mintLeaseId,
  mintRunId,
  mintSessionId,
  type SessionId,
} from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import { findRequest, type RequestKey, recordRequest } from '../ledger/requests.ts';
import { insertRun } from '../ledger/runs.ts';
import {
  type CapabilityProfile,
  insertSession,
  type SubagentPolicy,
  type WorktreeRecord,
} from '../ledger/sessions.ts';
import { insertSkills, type SkillReference, type StoredSkill } from '../ledger/skills.ts';
import { leaseExpiry } from './lease.ts';

export interface StartInput {
  readonly prompt: string;
  readonly workingDirectory: string;
  readonly idempotencyKey: string;
  readonly label: string | null;
  readonly profile: CapabilityProfile;
  readonly subagentPolicy: SubagentPolicy;
  /** The skills that the client asks for, by id and hash. */
  readonly skills: readonly SkillReference[];
}

/** Where a session works: fixed when it is created. */
export interface Workspace {
  /** Absolute and real. For a worktree, the place where it will be. */
  readonly workingDirectory: string;
  readonly worktree: WorktreeRecord | null;
  readonly skills: readonly StoredSkill[];
}

const outcomeSchema = z.strictObject({
  session_id: z.custom<SessionId>(isSessionId),
  lease_id: z.custom<LeaseId>(isLeaseId),
});

export interface StartOutcome {
  readonly replay: boolean;
  readonly sessionId: SessionId;
  /** The lease that this start gave out. It may have been rotated away since. */
  readonly leaseId: LeaseId;
}

/** What the same key came to before, whether its directory is still there or not. Throws `idempotency_conflict`. */
export function findStart(database: LedgerDatabase, input: StartInput): StartOutcome | undefined {
  const { key, keyed } = toRequest(input);
  const stored = findRequest(database, key, keyed);
  if (stored === undefined) return undefined;
  const outcome = outcomeSchema.parse(stored);
  return { replay: true, sessionId: outcome.session_id, leaseId: outcome.lease_id };
}

function toRequest(input: StartInput): { readonly key: RequestKey; readonly keyed: JsonObject } {
  return {
    key: { scope: 'gateway', kind: 'start', key: input.idempotencyKey },
    keyed: {
      prompt: input.prompt,
      working_directory: input.workingDirectory,
      session_label: input.label,
      capability_profile: input.profile,
      subagent_policy: input.subagentPolicy,
      // Left out where there are none, so that a key from before there were any means the same.
      ...(input.skills.length === 0 ? {} : { skill_contexts: input.skills.map(toPin) }),
    },
  };
}

/**
 * Creates a session with its first prompt queued, or finds the one that the same key created before. One
 * transaction: after a crash there is a whole session or none.
 */
export function createSession(
  database: LedgerDatabase,
  input: StartInput,
  workspace: Workspace,
  leaseSeconds: number,
  now: Date,
): StartOutcome {
  const { key, keyed } = toRequest(input);
  return database.transaction(() => {
    const stored = findStart(database, input);
    if (stored !== undefined) return stored;
    const at = now.toISOString();
    const sessionId = mintSessionId();
    const leaseId = mintLeaseId();
    insertSession(database, {
      id: sessionId,
      claudeSessionId: mintClaudeSessionId(),
      label: input.label,
      profile: input.profile,
      subagentPolicy: input.subagentPolicy,
      workingDirectory: workspace.workingDirectory,
      status: 'starting',
      leaseId,
      leaseSeconds,
      leaseExpiresAt: leaseExpiry(now, leaseSeconds),
      worktree: workspace.worktree,
      createdAt: at,
    });
    insertSkills(database, sessionId, workspace.skills);
    const runId = mintRunId();
    insertRun(database, sessionId, runId, input.prompt, at);
    appendEvent(
      database,
      sessionId,
      'session_created',
      {
        capability_profile: input.profile,
        subagent_policy: input.subagentPolicy,
        working_directory: workspace.workingDirectory,
        ...(workspace.worktree === null ? {} : { worktree: { ...workspace.worktree } }),
        ...(workspace.skills.length === 0
          ? {}
          : {
              skills: workspace.skills.map((skill) => ({
                ...toPin(skill),
                body_sha256: sha256(skill.body),
              })),
            }),
      },
      at,
    );
    appendEvent(database, sessionId, 'run_queued', { run_id: runId }, at);
    recordRequest(database, key, keyed, { session_id: sessionId, lease_id: leaseId }, at);
    return { replay: false, sessionId, leaseId };
  });
}

function toPin({ skill_id, content_sha256 }: SkillReference): JsonObject {
  return { skill_id, content_sha256 };
}

/** Throws `invalid_parameter` for a policy that does not go with the profile; nothing is stored then. */
export function requirePolicy(profile: CapabilityProfile, policy: SubagentPolicy): void {
  if (policy === 'none' || profile === 'worktree_write') return;
  throw new ReinsError(
    'invalid_parameter',
    'subagent_policy deepseek_explicit goes with capability_profile worktree_write alone; use subagent_policy none here.',
  );
}
