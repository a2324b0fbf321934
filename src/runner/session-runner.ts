import { systemClock } from '../base/clock.ts';
import type { RunnerId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { type LaunchErrorCode, ReinsError } from '../base/reins-error.ts';
import { ensurePrivateDirectory, type StateDirectory } from '../base/state-directory.ts';
import { systemErrorCode } from '../base/system-error-code.ts';
import { createBridge } from '../bridge/bridge.ts';
import { assertClaude } from '../claude/assert-version.ts';
import type { ClaudeProcess } from '../claude/claude-process.ts';
import { openConfinement } from '../confine/open-confinement.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { setSessionClaude, setSessionNote } from '../ledger/sessions.ts';
import { finishRun } from '../session/finish-run.ts';
import { requireSession } from '../session/require-session.ts';
import { startQueuedRun } from '../session/start-queued-run.ts';
import { createExecutor } from '../tools/executor.ts';
import { createExecutorServer } from '../tools/executor-server.ts';
import { reconcileActions } from '../tools/reconcile-actions.ts';
import type { ToolContext } from '../tools/tool.ts';
import { toolsFor } from '../tools/tool-set.ts';
import type { WireRequest } from '../wire/protocol.ts';
import { ChangeSignal } from './change-signal.ts';
import { createRunnerContext } from './create-runner-context.ts';
import { makeExecutorPipes, openExecutorPipes } from './executor-pipes.ts';
import { handleRequest } from './handle-request.ts';
import { launchClaude, toClaudePlaces } from './launch-claude.ts';
import { mintModelKey, startModelSocket } from './model-socket.ts';
import { prepareWorkspace } from './prepare-workspace.ts';
import { type EndCause, recordEnd } from './record-end.ts';
import type { RunnerConfig } from './runner-config.ts';
import { createSubagentHost } from './subagent/subagent-host.ts';
import { createTurnDesk } from './turn-desk.ts';
import { watchDeadline } from './watch-deadline.ts';

/** How long an action that is under way may take to finish before the runner leaves, in milliseconds. */
const DRAIN_MS = 5_000;

export interface RunnerDependencies {
  readonly database: LedgerDatabase;
  readonly state: StateDirectory;
  readonly config: RunnerConfig;
  readonly runnerId: RunnerId;
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
  const tools = toolsFor(session.profile, session.subagentPolicy);
  const changes = new ChangeSignal();
  const onChange = (): void => changes.notify();

  const confining = openConfinement(process.platform);
  confining.catch(() => {});
  const ownContext = createRunnerContext(database, session, config, state, confining);
  const subagents =
    session.subagentPolicy === 'none'
      ? null
      : createSubagentHost({
          database,
          session,
          state,
          runnerId: dependencies.runnerId,
          config,
          confinement: confining,
          context: ownContext,
          clock,
          log,
          onChange,
          hidePlaces,
          onFault: fault,
        });
  const context: ToolContext = { ...ownContext, subagents };
  const onFault = (error: unknown): void =>
    log.error({ error: error instanceof Error ? error.stack : String(error) }, 'tool fault');
  const executor = createExecutor({
    database,
    session: id,
    subsession: null,
    tools,
    context,
    clock,
    onChange,
    onFault,
  });
  const desk = createTurnDesk({ database, session: id, sessionRoot: paths.root, clock, onChange });

  let cause: EndCause | undefined;
  let claude: ClaudeProcess | undefined;
  let stopWatchingLease = (): void => {};
  const ports: { close(): void }[] = [];
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
    executor.stop();
    // N34: the ledger says that the subagent has ended before it says anything of the session.
    await subagents?.close('The session ended while the subagent worked.');
    await claude?.end();
    await executor.drain(DRAIN_MS);
    for (const port of ports) port.close();
    try {
      recordEnd(database, id, dependencies.runnerId, because, clock());
    } catch (error) {
      log.error({ error: String(error) }, 'the end could not be recorded');
    }
    changes.notify();
  }

  /** N46: what a client gets to read names no place inside the state directory. */
  function hidePlaces(text: string): string {
    return text.replaceAll(paths.root, '[session]').replaceAll(state.root, '[state]');
  }

  function takeUpPrompt(): void {
    const run = startQueuedRun(database, id, clock());
    if (run !== undefined) claude?.sendPrompt(run.id, run.prompt);
  }

  /** What goes on after it would go on from a guess. */
  function fault(error: unknown): void {
    onFault(error);
    end({ kind: 'terminated', by: 'a fault of its runner' });
  }

  async function startProcesses(): Promise<void> {
    // Asking the binary for its version takes a moment, which everything else does not have to wait for.
    const asserted = assertClaude(config.claude);
    asserted.catch(() => {});
    for (const directory of [paths.home, paths.claudeConfig, paths.runtime]) {
      ensurePrivateDirectory(directory);
    }
    const confinement = await confining;
    await prepareWorkspace(database, session, confinement, clock);
    await reconcileActions({
      database,
      session: id,
      context,
      clock,
      redo: session.stopRequest === null,
      onChange,
    });
    if (cause !== undefined) return;
    const key = mintModelKey();
    const socketPath = state.modelSocketPath(dependencies.runnerId);
    const bridge = createBridge({ key, onTurnRequest: desk.receive });
    const socket = await startModelSocket(socketPath, bridge);
    ports.push(socket);
    const places = toClaudePlaces(paths, socketPath);
    await makeExecutorPipes([places.executorRequests, places.executorAnswers]);
    const server = createExecutorServer(tools, executor);
    ports.push(openExecutorPipes(places.executorRequests, places.executorAnswers, server, fault));
    const executable = await asserted;
    if (cause !== undefined) return;
    const outside = { ...places, executable };
    claude = launchClaude(confinement, outside, session.claudeSessionId, config, key, tools, {
      onResult(result) {
        const conclude = (): void => {
          finishRun(database, id, { ...result, text: hidePlaces(result.text) }, clock());
          onChange();
        };
        const ending = subagents?.end('The run ended while the subagent worked.');
        if (ending === undefined) conclude();
        else void ending.then(conclude);
      },
      onContractBroken(reason) {
        const message = `Claude Code is not set up as it has to be: ${reason}; install the supported version.`;
        end({ kind: 'launch_failed', code: 'claude_contract_broken', message });
      },
      onExit: (how) => end({ kind: 'claude_exited', how: hidePlaces(how) }),
    });
    database.transaction(() => {
      setSessionClaude(database, id, claude?.identity ?? null);
      setSessionNote(database, id, 'boundary', {
        enforced: true,
        detail: confinement.boundary + describeWayOut(config),
      });
    });
    takeUpPrompt();
  }

  return {
    ended,
    end,

    async launch() {
      try {
        await startProcesses();
      } catch (error) {
        log.error({ error: String(error) }, 'launch failed');
        end(toLaunchFailure(error, hidePlaces));
      }
      if (cause !== undefined) {
        await claude?.end();
        return;
      }
      stopWatchingLease = watchDeadline(
        clock,
        () => requireSession(database, id).leaseExpiresAt,
        () => end({ kind: 'lease_ran_out' }),
      );
    },

    async handle(request) {
      // What comes in while everything ends is answered by how it ended: nothing is taken that nobody would carry out.
      if (cause !== undefined && (request.method === 'reply' || request.method === 'continue')) {
        await ended;
      }
      const stop = (): Promise<void> => {
        end({ kind: 'stop_requested' });
        return ended;
      };
      const handlers = {
        database,
        session,
        clock,
        changes,
        release: desk.release,
        takeUpPrompt,
        stop,
      };
      return handleRequest(handlers, request);
    },
  };
}

/** The runner itself is not confined, and for a subagent it speaks to one place outside. */
function describeWayOut({ deepseek }: RunnerConfig): string {
  return deepseek === null
    ? ''
    : ` Model requests of a subagent go from Reins to ${new URL(deepseek.base_url).host}, and nowhere else.`;
}

function toLaunchFailure(error: unknown, hidePlaces: (text: string) => string): EndCause {
  if (error instanceof ReinsError) {
    const code = isLaunchCode(error.code) ? error.code : 'runner_failed';
    return { kind: 'launch_failed', code, message: hidePlaces(error.message) };
  }
  return {
    kind: 'launch_failed',
    code: 'runner_failed',
    message: `The session could not be set up (${systemErrorCode(error) ?? 'unknown reason'}); look at its runner log in the state directory, correct that and call native_session_continue.`,
  };
}

const LAUNCH_CODES: readonly string[] = [
  'confinement_unavailable',
  'workspace_unavailable',
  'runner_failed',
];

function isLaunchCode(code: string): code is LaunchErrorCode {
  return code.startsWith('claude_') || LAUNCH_CODES.includes(code);
}
