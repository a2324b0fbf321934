import type { SessionTokens } from '../base/session-tokens.ts';
import { listOpenActions } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { findLatestRun } from '../ledger/runs.ts';
import type {
  LastResult,
  LaunchErrorRecord,
  SessionRecord,
  StopRequest,
} from '../ledger/sessions.ts';
import {
  describePendingTurn,
  type PendingTurn,
  type ToolCatalogue,
} from './describe-pending-turn.ts';

/** What really keeps Claude Code and the executor in, never what is hoped. */
export interface NetworkBoundary {
  readonly enforced: boolean;
  readonly detail: string;
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
  readonly workspace: { readonly kind: 'read_only' | 'direct'; readonly write_root: string | null };
  readonly runtime_attached: boolean;
  readonly recovery_required: boolean;
  readonly network_boundary: NetworkBoundary;
  readonly current_run: {
    readonly run_id: string;
    readonly ordinal: number;
    readonly state: string;
    readonly started_at: string;
  } | null;
  readonly pending_turn: PendingTurn | null;
  readonly skill_snapshot: null;
  readonly deepseek_route: null;
  readonly deepseek_subsessions: readonly never[];
  readonly active_deepseek_subsession_id: null;
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
  readonly networkBoundary: NetworkBoundary;
}

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
  const terminal = ['completed', 'failed', 'stopped', 'lease_expired'].includes(session.status);
  const writes = session.profile !== 'read_only';
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
    source_directory: session.workingDirectory,
    workspace: {
      kind: writes ? 'direct' : 'read_only',
      write_root: writes ? session.workingDirectory : null,
    },
    runtime_attached: session.runner !== null,
    recovery_required: unresolved.length > 0,
    network_boundary: sources.networkBoundary,
    current_run:
      run === undefined
        ? null
        : { run_id: run.id, ordinal: run.ordinal, state: run.state, started_at: run.createdAt },
    pending_turn: describePendingTurn(database, session, sources.catalogue),
    skill_snapshot: null,
    deepseek_route: null,
    deepseek_subsessions: [],
    active_deepseek_subsession_id: null,
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
