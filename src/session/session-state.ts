import type { SessionTokens } from '../base/session-tokens.ts';
import { listOpenActions } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { findLatestRun } from '../ledger/runs.ts';
import type {
  Boundary,
  LastResult,
  LaunchErrorRecord,
  SessionRecord,
  StopRequest,
} from '../ledger/sessions.ts';
import { listSkillReferences, type SkillReference } from '../ledger/skills.ts';
import { listSubsessions } from '../ledger/subsessions.ts';
import { isOver } from '../machine/subsession-machine.ts';
import {
  describePendingTurn,
  type PendingTurn,
  type ToolCatalogue,
} from './describe-pending-turn.ts';
import { type SubagentSummary, summarizeSubagent } from './describe-subagent.ts';

/** True until a runner has started Claude Code and recorded what keeps it in. */
const NOT_STARTED: Boundary = {
  enforced: true,
  detail: 'No process of this session has been started yet; none is started without confinement.',
};

/** Where the session may change files. */
export interface WorkspaceState {
  readonly kind: 'read_only' | 'direct' | 'worktree';
  readonly write_root: string | null;
  /** The commit that a worktree was made of, the branch that has it, and whether the worktree is there. */
  readonly head?: string;
  readonly source_branch?: string | null;
  readonly worktree_state?: string;
  /** Protected places that the person at the computer has opened for sessions. */
  readonly unprotected?: readonly string[];
}

/** N4: one shape for every tool. What is null does not exist for this session, or not now. */
export interface SessionState {
  readonly route: 'chatgpt-main';
  readonly fallback: 'none';
  readonly replay: boolean;
  readonly native_session_id: string;
  readonly claude_session_id: string;
  readonly status: string;
  readonly revision: number;
  readonly lease_id: string;
  readonly lease_expires_at: string;
  readonly session_label: string | null;
  readonly capability_profile: string;
  readonly subagent_policy: string;
  readonly working_directory: string;
  readonly source_directory: string;
  readonly workspace: WorkspaceState;
  readonly runtime_attached: boolean;
  readonly recovery_required: boolean;
  /** What really keeps Claude Code and its commands in, never what is hoped. */
  readonly network_boundary: Boundary;
  readonly current_run: {
    readonly run_id: string;
    readonly ordinal: number;
    readonly state: string;
    readonly started_at: string;
  } | null;
  readonly pending_turn: PendingTurn | null;
  /** The skills that the session was started with; their instructions are in its full turns alone. */
  readonly skill_snapshot: { readonly skills: readonly SkillReference[] } | null;
  /** The model behind each class of a subagent; null in a session that has none. */
  readonly deepseek_route: Readonly<Record<string, string>> | null;
  /** The latest ones, oldest first. */
  readonly deepseek_subsessions: readonly SubagentSummary[];
  readonly active_deepseek_subsession_id: string | null;
  /** What a person has to look at before the session can go on. */
  readonly unresolved_actions?: readonly {
    readonly action_id: string;
    readonly tool: string;
    readonly path: string | null;
  }[];
  readonly terminal?: true;
  readonly last_result?: LastResult;
  readonly launch_error?: LaunchErrorRecord;
  readonly stop_request?: StopRequest;
  readonly recovery_token?: string;
}

export interface StateSources {
  readonly database: LedgerDatabase;
  readonly catalogue: ToolCatalogue;
  /** What the user has opened of the protected places. */
  readonly opened: readonly string[];
  readonly deepseekRoute: Readonly<Record<string, string>>;
}

/** As many as fit beside a full turn. */
const MAX_SUBSESSIONS = 10;

/** A session as its client sees it. Runner, processes, tokens and places inside the state directory are not in it. */
export function toSessionState(
  sources: StateSources,
  session: SessionRecord,
  shown: { readonly replay: boolean; readonly tokens?: SessionTokens },
): SessionState {
  const { database } = sources;
  const run = findLatestRun(database, session.id);
  const unresolved = listOpenActions(database, session.id).filter(
    (action) => action.state === 'unknown',
  );
  const skills = listSkillReferences(database, session.id);
  const subagents =
    session.subagentPolicy === 'none' ? [] : listSubsessions(database, session.id, MAX_SUBSESSIONS);
  const active = subagents.find(({ state }) => !isOver(state));
  const terminal = ['completed', 'failed', 'stopped', 'lease_expired'].includes(session.status);
  return {
    route: 'chatgpt-main',
    fallback: 'none',
    replay: shown.replay,
    native_session_id: session.id,
    claude_session_id: session.claudeSessionId,
    status: session.status,
    revision: session.revision,
    lease_id: session.leaseId,
    lease_expires_at: session.leaseExpiresAt,
    session_label: session.label,
    capability_profile: session.profile,
    subagent_policy: session.subagentPolicy,
    working_directory: session.workingDirectory,
    source_directory: session.worktree?.source ?? session.workingDirectory,
    workspace: toWorkspaceState(session, sources.opened),
    runtime_attached: session.runner !== null,
    recovery_required: unresolved.length > 0,
    network_boundary: session.boundary ?? NOT_STARTED,
    current_run:
      run === undefined
        ? null
        : { run_id: run.id, ordinal: run.ordinal, state: run.state, started_at: run.createdAt },
    pending_turn: describePendingTurn(database, session, sources.catalogue),
    skill_snapshot: skills.length === 0 ? null : { skills },
    deepseek_route: session.subagentPolicy === 'none' ? null : sources.deepseekRoute,
    deepseek_subsessions: subagents.map(summarizeSubagent),
    active_deepseek_subsession_id: active?.id ?? null,
    ...(unresolved.length === 0
      ? {}
      : {
          unresolved_actions: unresolved.map((action) => ({
            action_id: action.id,
            tool: action.tool,
            path: action.path,
          })),
        }),
    ...(terminal ? { terminal: true } : {}),
    ...(session.lastResult === null ? {} : { last_result: session.lastResult }),
    ...(session.launchError === null ? {} : { launch_error: session.launchError }),
    ...(session.stopRequest === null ? {} : { stop_request: session.stopRequest }),
    ...(shown.tokens === undefined
      ? {}
      : { recovery_token: shown.tokens.recoveryToken(session.id) }),
  };
}

function toWorkspaceState(session: SessionRecord, opened: readonly string[]): WorkspaceState {
  const { worktree, workingDirectory, profile } = session;
  const unprotected = opened.length === 0 ? {} : { unprotected: opened };
  if (worktree !== null) {
    return {
      kind: 'worktree',
      write_root: workingDirectory,
      head: worktree.head,
      source_branch: worktree.branch,
      worktree_state: worktree.state,
      ...unprotected,
    };
  }
  return profile === 'read_only'
    ? { kind: 'read_only', write_root: null, ...unprotected }
    : { kind: 'direct', write_root: workingDirectory, ...unprotected };
}
