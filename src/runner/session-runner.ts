import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { type LaunchErrorCode, ReinsError } from '../base/reins-error.ts';
import type { SessionTokens } from '../base/session-tokens.ts';
import { ensurePrivateDirectory, type StateDirectory } from '../base/state-directory.ts';
import { unreachable } from '../base/unreachable.ts';
import { createBridge } from '../bridge/bridge.ts';
import type { ClaudeProcess } from '../claude/claude-process.ts';
import { createPathProtection } from '../confine/path-protection.ts';
import { findLastSeenContent } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { type RunnerRecord, setSessionClaude } from '../ledger/sessions.ts';
import { acceptReply } from '../session/accept-reply.ts';
import { checkReply } from '../session/check-reply.ts';
import { expireLease, failLaunch, finishStop, loseClaude } from '../session/end-session.ts';
import { finishRun } from '../session/finish-run.ts';
import { queuePrompt } from '../session/queue-prompt.ts';
import { requestStop } from '../session/request-stop.ts';
import { requireSession } from '../session/require-session.ts';
import { isSettled } from '../session/settled.ts';
import { startQueuedRun } from '../session/start-queued-run.ts';
import { createExecutor } from '../tools/executor.ts';
import type { ToolContext } from '../tools/tool.ts';
import { checkToolCall, toolsFor } from '../tools/tool-set.ts';
import type { WireRequest } from '../wire/protocol.ts';
import { ChangeSignal } from './change-signal.ts';
import { launchClaude } from './launch-claude.ts';
import { watchLease } from './lease-watch.ts';
import { mintLoopbackKey, startLoopbackServer } from './loopback-server.ts';
import type { RunnerConfig } from './runner-config.ts';
import { createTurnDesk } from './turn-desk.ts';

/** Why a runner ends. The first cause wins; what comes after it is a consequence. */
export type EndCause =
  | { readonly kind: 'stop_requested' }
  | { readonly kind: 'lease_ran_out' }
  | { readonly kind: 'launch_failed'; readonly code: LaunchErrorCode; readonly message: string }
  | { readonly kind: 'claude_exited'; readonly how: string }
  | { readonly kind: 'terminated'; readonly signal: string };

export interface RunnerDependencies {
  readonly database: LedgerDatabase;
  readonly state: StateDirectory;
  readonly tokens: SessionTokens;
  readonly config: RunnerConfig;
  readonly self: RunnerRecord;
  readonly log: Log;
}

/** The one writer of a session's turns and actions, for as long as its Claude Code process lives. */
export interface SessionRunner {
  /** Starts Claude Code on the queued prompt. Resolves when it runs or the launch has failed. */
  launch(): Promise<void>;
  handle(request: WireRequest): Promise<{ readonly replay: boolean }>;
  end(cause: EndCause): void;
  /** Resolves when Claude Code has ended and the ledger says how. */
  readonly ended: Promise<void>;
}

export function createSessionRunner(dependencies: RunnerDependencies): SessionRunner {
  const { database, state, config, log } = dependencies;
  const clock = systemClock;
  const id = config.session_id;
  const session = requireSession(database, id);
  const paths = state.sessionPaths(id);
  const tools = toolsFor(session.profile);
  const changes = new ChangeSignal();
  const onChange = (): void => changes.notify();

  const context: ToolContext = {
    workingDirectory: session.workingDirectory,
    writeRoot: session.profile === 'read_only' ? null : session.workingDirectory,
    protection: createPathProtection(config.user_home, state.root, process.platform),
    lastSeen: (path) => findLastSeenContent(database, id, path),
  };
  const executor = createExecutor({ database, session: id, tools, context, clock, onChange });
  const desk = createTurnDesk({ database, session: id, sessionRoot: paths.root, clock, onChange });

  let cause: EndCause | undefined;
  let claude: ClaudeProcess | undefined;
  let stopWatchingLease = (): void => {};
  let closeLoopback = (): void => {};
  let resolveEnded = (): void => {};
  const ended = new Promise<void>((resolve) => {
    resolveEnded = resolve;
  });

  function end(because: EndCause): void {
    if (cause !== undefined) return;
    cause = because;
    log.info({ cause: because.kind }, 'runner ends');
    void finish(because).then(resolveEnded);
  }

  async function finish(because: EndCause): Promise<void> {
    stopWatchingLease();
    await claude?.end();
    closeLoopback();
    try {
      setSessionClaude(database, id, null);
      recordEnd(because);
    } catch (error) {
      log.error({ error: String(error) }, 'the end could not be recorded');
    }
    changes.notify();
  }

  function recordEnd(because: EndCause): void {
    const now = clock();
    const starting = requireSession(database, id).status === 'starting';
    switch (because.kind) {
      case 'stop_requested':
        finishStop(database, id, now);
        break;
      case 'lease_ran_out':
        expireLease(database, id, now);
        break;
      case 'launch_failed': {
        const { code, message } = because;
        if (starting) failLaunch(database, id, { code, message }, now);
        else loseClaude(database, id, `was ended, because ${message}`, now);
        break;
      }
      case 'claude_exited': {
        const message = `Claude Code ${because.how} before it asked its first question; see that the binary at CLAUDE_BIN or on PATH runs by itself.`;
        if (starting) failLaunch(database, id, { code: 'claude_exited', message }, now);
        else loseClaude(database, id, because.how, now);
        break;
      }
      case 'terminated':
        loseClaude(database, id, `was ended by ${because.signal} to its runner`, now);
        break;
      default:
        unreachable(because);
    }
  }

  function takeUpPrompt(): void {
    const run = startQueuedRun(database, id, clock());
    if (run !== undefined) claude?.sendPrompt(run.id, run.prompt);
  }

  return {
    ended,
    end,

    async launch() {
      const keys = { bridge: mintLoopbackKey(), executor: mintLoopbackKey() };
      try {
        for (const directory of [paths.home, paths.claudeConfig, paths.runtime]) {
          ensurePrivateDirectory(directory);
        }
        const loopback = await startLoopbackServer({
          bridge: createBridge({ key: keys.bridge, onTurnRequest: desk.receive }),
          executorKey: keys.executor,
          executor: import('../tools/executor-server.ts').then((module) =>
            module.createExecutorServer(tools, executor),
          ),
        });
        closeLoopback = loopback.close;
        claude = await launchClaude(session, paths, config, loopback, keys, tools, {
          onResult(result) {
            finishRun(database, id, result, clock());
            onChange();
          },
          onContractBroken(reason) {
            const message = `Claude Code is not confined as it has to be: ${reason}; install the supported version.`;
            end({ kind: 'launch_failed', code: 'claude_contract_broken', message });
          },
          onExit: (how) => end({ kind: 'claude_exited', how }),
        });
        setSessionClaude(database, id, claude.identity ?? null);
        takeUpPrompt();
      } catch (error) {
        log.error({ error: String(error) }, 'launch failed');
        end(toLaunchFailure(error));
      }
      if (cause !== undefined) await claude?.end();
      stopWatchingLease = watchLease(
        clock,
        () => requireSession(database, id).leaseExpiresAt,
        () => end({ kind: 'lease_ran_out' }),
      );
    },

    async handle(request) {
      switch (request.method) {
        case 'reply': {
          const reply = { text: request.text, calls: request.calls };
          checkReply(reply, (call, position) => checkToolCall(session.profile, call, position));
          const accepted = acceptReply(
            database,
            {
              ...reply,
              sessionId: id,
              leaseId: request.lease_id,
              turnId: request.turn_id,
              replyId: request.reply_id,
            },
            clock(),
          );
          if (accepted === null) return { replay: true };
          desk.release(accepted);
          return { replay: false };
        }
        case 'continue': {
          const outcome = queuePrompt(
            database,
            {
              sessionId: id,
              leaseId: request.lease_id,
              prompt: request.prompt,
              idempotencyKey: request.idempotency_key,
            },
            clock(),
          );
          if (!outcome.replay) takeUpPrompt();
          onChange();
          return outcome;
        }
        case 'stop': {
          const outcome = requestStop(
            database,
            {
              sessionId: id,
              leaseId: request.lease_id,
              requestId: request.request_id,
              reason: request.reason,
            },
            clock(),
          );
          end({ kind: 'stop_requested' });
          await ended;
          return { replay: outcome.replay };
        }
        case 'wait':
          await changes.until(() => {
            const current = requireSession(database, id);
            return isSettled(current.status) || current.leaseId !== request.lease_id;
          }, request.timeout_ms);
          return { replay: false };
        case 'refresh':
          onChange();
          return { replay: false };
      }
    },
  };
}

function toLaunchFailure(error: unknown): EndCause {
  if (error instanceof ReinsError && isLaunchCode(error.code)) {
    return { kind: 'launch_failed', code: error.code, message: error.message };
  }
  return {
    kind: 'launch_failed',
    code: 'runner_failed',
    message: `The session could not be set up (${error instanceof Error ? error.message : 'unknown reason'}); correct that and call native_session_continue.`,
  };
}

function isLaunchCode(code: string): code is LaunchErrorCode {
  return code.startsWith('claude_') || code === 'runner_failed';
}
