import type { Clock } from '../base/clock.ts';
import { failpoint } from '../base/failpoint.ts';
import type { LeaseId, SessionId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import type { SessionTokens } from '../base/session-tokens.ts';
import { type ActionRecord, listOpenActions } from '../ledger/actions.ts';
import { findRequest } from '../ledger/requests.ts';
import { type SessionRecord, setSessionUndoer, type WorktreeRecord } from '../ledger/sessions.ts';
import type { SkillReference, StoredSkill } from '../ledger/skills.ts';
import { findActiveSubsession } from '../ledger/subsessions.ts';
import type { RunnerConnection } from '../wire/runner-connection.ts';
import { checkReply, type Reply } from './check-reply.ts';
import {
  createSession,
  findStart,
  requirePolicy,
  type StartInput,
  type Workspace,
} from './create-session.ts';
import { failLaunch, finishStop, recordRunnerLost } from './end-session.ts';
import { extendLease, isLeaseLive, requireLeaseHolder, requireLiveLease } from './lease.ts';
import { type ContinueInput, queuePrompt } from './queue-prompt.ts';
import { requestStop, type StopInput } from './request-stop.ts';
import { requireSession } from './require-session.ts';
import { resolveWorkingDirectory } from './resolve-working-directory.ts';
import { type RecoverInput, rotateLease } from './rotate-lease.ts';
import type { RunnerPort } from './runner-port.ts';
import { type SessionState, type StateSources, toSessionState } from './session-state.ts';
import { isSettled } from './settled.ts';

export interface ServiceDependencies extends StateSources {
  readonly tokens: SessionTokens;
  readonly runners: RunnerPort;
  readonly leaseSeconds: number;
  /** Plans the worktree of a repository, without making it. Throws `worktree_refused`, or why nothing confines Git. */
  planWorktree(topLevel: string): Promise<WorktreeRecord>;
  /** Takes the instructions of skills as they are now. Throws `skill_refused`. */
  freezeSkills(asked: readonly SkillReference[], project: string): Promise<readonly StoredSkill[]>;
  /** Throws `feature_unavailable` where no subagent could be started. */
  requireSubagents(): void;
  /** Settles the changes that a process left under way, by looking at their files. */
  reconcile(session: SessionRecord): Promise<void>;
  readonly clock: Clock;
}

/** The six calls of a client, for any number of gateways over one state directory. Stateless between calls. */
export interface SessionService {
  start(input: StartInput, waitMs: number): Promise<SessionState>;
  continue(input: ContinueInput, waitMs: number): Promise<SessionState>;
  recover(input: RecoverInput, waitMs: number): Promise<SessionState>;
  reply(input: ReplyCall, waitMs: number): Promise<SessionState>;
  status(input: StatusCall, waitMs: number): Promise<SessionState>;
  stop(input: StopInput, waitMs: number): Promise<SessionState>;
}

export interface ReplyCall extends Reply {
  readonly sessionId: string;
  readonly leaseId: string;
  readonly turnId: string;
  readonly replyId: string;
}

export interface StatusCall {
  readonly sessionId: string;
  readonly leaseId: string;
}

/** How often the ledger is looked at while a session has no runner to ask yet, in milliseconds. */
const POLL_MS = 50;
/** A runner that is leaving closes its socket a moment before it is gone; longer than this is silence. */
const SILENCE_MS = 3_000;
/** A start whose gateway died before it had launched a runner is taken up by a repetition after this time. */
const ORPHANED_START_MS = 3_000;

export function createSessionService(dependencies: ServiceDependencies): SessionService {
  const { database, tokens, runners, clock } = dependencies;

  /** The session with its runner looked up; a runner that is provably gone has been recorded as such. */
  async function attach(
    session: SessionRecord,
    patience = performance.now() + SILENCE_MS,
  ): Promise<{ readonly session: SessionRecord; readonly runner: RunnerConnection | undefined }> {
    if (session.undoer !== null && !runners.isAlive(session.undoer)) {
      setSessionUndoer(database, session.id, null);
      await dependencies.reconcile(session);
      return attach(requireSession(database, session.id), patience);
    }
    const { runner } = session;
    if (runner === null) return { session: await settleActions(session), runner: undefined };
    const found = await runners.find(session.id, runner);
    switch (found.kind) {
      case 'attached':
        return { session, runner: found.connection };
      case 'gone': {
        // Two Claude Codes must never write to one conversation, nor one beside a client that thinks it has ended.
        for (const left of [session.claude, findActiveSubsession(database, session.id)?.claude]) {
          if (left) await runners.endLeftover(left);
        }
        recordRunnerLost(database, session.id, runner.id, clock());
        const lost = requireSession(database, session.id);
        return { session: await settleActions(lost), runner: undefined };
      }
      case 'silent': {
        // A runner that is just leaving has said so in the ledger by now.
        const current = requireSession(database, session.id);
        if (current.runner?.id !== runner.id) return attach(current);
        if (performance.now() < patience) {
          await pause(POLL_MS);
          return attach(current, patience);
        }
        throw new ReinsError(
          'runner_unreachable',
          'The process that runs this session is alive and does not answer; repeat the call in a moment, and if that does not help, end the process on the computer.',
        );
      }
    }
  }

  /** Without a runner nobody is at work on the files: what was under way can be looked up. */
  async function settleActions(session: SessionRecord): Promise<SessionRecord> {
    if (session.status === 'stopping') finishStop(database, session.id, null, clock());
    if (session.status === 'starting' || session.undoer !== null) return session;
    if (listOpenActions(database, session.id).some(isInDoubt)) {
      await dependencies.reconcile(session);
    }
    return requireSession(database, session.id);
  }

  async function planWorkspace(input: StartInput): Promise<Workspace> {
    const directory = await resolveWorkingDirectory(input.workingDirectory, input.profile);
    const skills =
      input.skills.length === 0 ? [] : await dependencies.freezeSkills(input.skills, directory);
    if (input.profile !== 'worktree_write') {
      return { workingDirectory: directory, worktree: null, skills };
    }
    const worktree = await dependencies.planWorktree(directory);
    return { workingDirectory: worktree.path, worktree, skills };
  }

  async function launch(session: SessionId): Promise<void> {
    const error = await runners.launch(session);
    // A runner that has taken the session up meanwhile, started by whomever, is left alone.
    if (error !== null) failLaunch(database, session, null, error, clock());
  }

  /** Waits until the session needs its client, at most until `deadline`. */
  async function settle(id: SessionId, leaseId: string, deadline: number): Promise<void> {
    const remaining = (): number => deadline - performance.now();
    while (remaining() > 0) {
      const { session, runner } = await attach(requireSession(database, id));
      if (isSettled(session.status) || session.leaseId !== leaseId) return;
      if (runner !== undefined) {
        await waitWith(runner, leaseId, remaining());
        if (runner.open) return;
      } else if (isOrphanedStart(session, clock())) {
        await launch(id);
      }
      await pause(Math.min(POLL_MS, Math.max(0, remaining())));
    }
  }

  /** The state for the holder of `leaseId`; a lease that was rotated while the call waited sees nothing. */
  function show(id: SessionId, leaseId: string, replay: boolean, withToken = false): SessionState {
    const session = requireSession(database, id);
    requireLeaseHolder(session, leaseId);
    return toSessionState(dependencies, session, { replay, ...(withToken ? { tokens } : {}) });
  }

  return {
    async start(input, waitMs) {
      const deadline = performance.now() + waitMs;
      requirePolicy(input.profile, input.subagentPolicy);
      const known = findStart(database, input);
      if (known === undefined && input.subagentPolicy !== 'none') dependencies.requireSubagents();
      const outcome =
        known ??
        createSession(
          database,
          input,
          await planWorkspace(input),
          dependencies.leaseSeconds,
          clock(),
        );
      if (!outcome.replay) await launch(outcome.sessionId);
      await settle(outcome.sessionId, outcome.leaseId, deadline);
      return show(outcome.sessionId, outcome.leaseId, outcome.replay, true);
    },

    async continue(input, waitMs) {
      const deadline = performance.now() + waitMs;
      const { session, runner } = await attach(requireSession(database, input.sessionId));
      const outcome =
        runner === undefined
          ? queuePrompt(database, input, clock())
          : await runner.call({
              method: 'continue',
              lease_id: input.leaseId,
              prompt: input.prompt,
              idempotency_key: input.idempotencyKey,
            });
      if (runner === undefined && !outcome.replay) await launch(session.id);
      await settle(session.id, input.leaseId, deadline);
      return show(session.id, input.leaseId, outcome.replay);
    },

    async recover(input, waitMs) {
      const deadline = performance.now() + waitMs;
      const outcome = rotateLease(database, tokens, input, clock());
      failpoint('lease-rotated');
      const { session, runner } = await attach(requireSession(database, input.sessionId));
      await runner?.call({ method: 'refresh' });
      await settle(session.id, outcome.leaseId, deadline);
      return show(session.id, outcome.leaseId, outcome.replay, true);
    },

    async reply(input, waitMs) {
      const deadline = performance.now() + waitMs;
      checkReply(input, () => {});
      const { session, runner } = await attach(requireSession(database, input.sessionId));
      const outcome =
        runner === undefined
          ? findStoredReply(dependencies, session, input)
          : await runner.call({
              method: 'reply',
              lease_id: input.leaseId,
              turn_id: input.turnId,
              reply_id: input.replyId,
              text: input.text,
              calls: input.calls.map((call) => ({ ...call })),
            });
      await settle(session.id, input.leaseId, deadline);
      return show(session.id, input.leaseId, outcome.replay);
    },

    async status(input, waitMs) {
      const deadline = performance.now() + waitMs;
      const { session } = await attach(requireSession(database, input.sessionId));
      touchLease(dependencies, session.id, input.leaseId);
      await settle(session.id, input.leaseId, deadline);
      return show(session.id, input.leaseId, false);
    },

    async stop(input, waitMs) {
      const deadline = performance.now() + waitMs;
      const { session, runner } = await attach(requireSession(database, input.sessionId));
      const outcome =
        runner === undefined
          ? stopWithoutRunner(dependencies, input)
          : await runner.call({
              method: 'stop',
              lease_id: input.leaseId,
              request_id: input.requestId,
              reason: input.reason,
            });
      await settle(session.id, input.leaseId, deadline);
      return show(session.id, input.leaseId, outcome.replay);
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A runner that leaves while somebody waits is looked up again by the caller, and what it left is in the ledger. */
async function waitWith(
  runner: RunnerConnection,
  leaseId: LeaseId | string,
  ms: number,
): Promise<void> {
  try {
    await runner.call({ method: 'wait', lease_id: leaseId, timeout_ms: Math.ceil(ms) });
  } catch (error) {
    if (!(error instanceof ReinsError) || error.code !== 'runner_unreachable') throw error;
  }
}

function isInDoubt(action: ActionRecord): boolean {
  return action.state === 'prepared' || action.state === 'undoing';
}

function isOrphanedStart(session: SessionRecord, now: Date): boolean {
  return (
    session.status === 'starting' &&
    session.runner === null &&
    now.getTime() - Date.parse(session.updatedAt) > ORPHANED_START_MS
  );
}

function touchLease(dependencies: ServiceDependencies, id: SessionId, leaseId: string): void {
  const { database, clock } = dependencies;
  database.transaction(() => {
    const session = requireSession(database, id);
    requireLeaseHolder(session, leaseId);
    const now = clock();
    if (isLeaseLive(session, now)) extendLease(database, session, now);
  });
}

/** Without a runner no reply can be delivered; one that was accepted before its runner went away is still known. */
function findStoredReply(
  dependencies: ServiceDependencies,
  session: SessionRecord,
  input: ReplyCall,
): { readonly replay: boolean } {
  const { database, clock } = dependencies;
  const stored = findRequest(
    database,
    { scope: session.id, kind: 'reply', key: input.replyId },
    {
      turn_id: input.turnId,
      text: input.text,
      tool_calls: input.calls.map(({ tool, input: args }) => ({ tool, input: args })),
    },
  );
  requireLiveLease(session, input.leaseId, clock());
  if (stored !== undefined) return { replay: true };
  throw new ReinsError(
    'session_not_running',
    `The session is ${session.status} and no process waits for a reply; call native_session_continue with a prompt to go on in the same conversation.`,
  );
}

function stopWithoutRunner(
  dependencies: ServiceDependencies,
  input: StopInput,
): { readonly replay: boolean } {
  const { database, clock } = dependencies;
  return database.transaction(() => {
    const outcome = requestStop(database, input, clock());
    const session = requireSession(database, input.sessionId);
    if (session.status === 'stopping') finishStop(database, session.id, null, clock());
    return outcome;
  });
}
