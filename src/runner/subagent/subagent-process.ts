import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { mintRunId, type RunnerId, type SubsessionId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { ReinsError } from '../../base/reins-error.ts';
import { ensurePrivateDirectory, type StateDirectory } from '../../base/state-directory.ts';
import { createBridge } from '../../bridge/bridge.ts';
import { assertClaude } from '../../claude/assert-version.ts';
import type { ClaudeProcess } from '../../claude/claude-process.ts';
import type { Confinement } from '../../confine/confinement.ts';
import type { DeepseekSettings } from '../../deepseek/deepseek-settings.ts';
import { findLastSeenContent } from '../../ledger/actions.ts';
import type { LedgerDatabase } from '../../ledger/database.ts';
import type { SessionRecord } from '../../ledger/sessions.ts';
import type { SubsessionOutcome, SubsessionRecord } from '../../ledger/subsessions.ts';
import { endSubagent, type SubagentEnd } from '../../session/end-subagent.ts';
import { recordSubagentLaunch } from '../../session/start-subagent.ts';
import { createExecutor } from '../../tools/executor.ts';
import { createExecutorServer } from '../../tools/executor-server.ts';
import type { ToolContext } from '../../tools/tool.ts';
import { toolsFor } from '../../tools/tool-set.ts';
import { makeExecutorPipes, openExecutorPipes } from '../executor-pipes.ts';
import { launchClaude, toClaudePlaces } from '../launch-claude.ts';
import { mintModelKey, startModelSocket } from '../model-socket.ts';
import type { RunnerConfig } from '../runner-config.ts';
import { watchDeadline } from '../watch-deadline.ts';
import { createModelRelay } from './model-relay.ts';

/** How long a call that is under way may take to finish before the subagent is over, in milliseconds. */
const DRAIN_MS = 5_000;
/** How long after each attempt to record the end the next one is made, in milliseconds. */
const RECORD_PAUSES_MS = [500, 1_000, 2_000, 5_000, 10_000, 20_000];

export interface SubagentDependencies {
  readonly database: LedgerDatabase;
  readonly session: SessionRecord;
  readonly state: StateDirectory;
  readonly runnerId: RunnerId;
  readonly config: RunnerConfig;
  readonly settings: DeepseekSettings;
  readonly confinement: Promise<Confinement>;
  /** What the session's own tools may know. */
  readonly context: ToolContext;
  readonly clock: Clock;
  readonly log: Log;
  onChange(): void;
  /** Takes the places inside the state directory out of a text. */
  hidePlaces(text: string): string;
  /** The runner cannot go on. */
  onFault(error: unknown): void;
}

/** A subagent that has been recorded, from the start of its Claude Code to the end of everything of it. */
export interface SubagentProcess {
  readonly id: SubsessionId;
  /** Whether something has ended it already. The first cause is the only one. */
  readonly isEnding: boolean;
  end(how: SubagentEnd): void;
  /** Resolves when nothing of it runs any more and the ledger says how it ended. Never rejects. */
  readonly ended: Promise<void>;
}

export function startSubagent(
  dependencies: SubagentDependencies,
  subsession: SubsessionRecord,
): SubagentProcess {
  const { database, session, state, config, clock, log, onChange } = dependencies;
  const paths = state.subagentPaths(session.id);
  const tools = toolsFor(session.profile);
  const cancelling = new AbortController();
  const executor = createExecutor({
    database,
    session: session.id,
    subsession: subsession.id,
    tools,
    context: {
      ...dependencies.context,
      subagents: null,
      lastSeen: (path) => findLastSeenContent(database, session.id, subsession.id, path),
    },
    clock,
    onChange,
    onFault: (error) => log.error({ error: String(error) }, 'tool fault of a subagent'),
  });
  const ports: { close(): void }[] = [];
  let claude: ClaudeProcess | undefined;
  let stopWatching = (): void => {};
  let how: SubagentEnd | undefined;
  let resolveEnded = (): void => {};
  const ended = new Promise<void>((resolve) => {
    resolveEnded = resolve;
  });

  function end(because: SubagentEnd): void {
    if (how !== undefined) return;
    how = because;
    void finish(because).catch(dependencies.onFault).then(resolveEnded);
  }

  const fail = (code: SubsessionOutcome['code'], message: string): void =>
    end({ event: 'failed', outcome: { code, message: dependencies.hidePlaces(message) } });

  async function finish(because: SubagentEnd): Promise<void> {
    stopWatching();
    cancelling.abort();
    executor.stop();
    await started;
    await claude?.end();
    await executor.drain(DRAIN_MS);
    for (const port of ports) port.close();
    await record(because);
    removePlaces();
    onChange();
  }

  /** Until this is done the files belong to the subagent, and whoever asks is told so. */
  async function record(because: SubagentEnd): Promise<void> {
    for (const pause of RECORD_PAUSES_MS) {
      try {
        endSubagent(database, session.id, subsession.id, because, clock());
        return;
      } catch (error) {
        log.error({ error: String(error) }, 'the end of a subagent could not be recorded');
        await sleep(pause);
      }
    }
    // The next gateway finds this process gone and records both ends.
    dependencies.onFault(new Error('the ledger takes no end of a subagent'));
  }

  function removePlaces(): void {
    try {
      rmSync(paths.root, { recursive: true, force: true });
    } catch (error) {
      log.error({ error: String(error) }, 'the directories of a subagent could not be removed');
    }
  }

  async function start(): Promise<void> {
    removePlaces();
    for (const directory of [paths.root, paths.home, paths.claudeConfig, paths.runtime]) {
      ensurePrivateDirectory(directory);
    }
    const executable = await assertClaude(config.claude);
    const confinement = await dependencies.confinement;
    if (how !== undefined) return;
    const key = mintModelKey();
    const socketPath = state.subagentSocketPath(dependencies.runnerId);
    const relay = createModelRelay({
      database,
      subsession,
      settings: dependencies.settings,
      tools,
      workingDirectory: session.workingDirectory,
      clock,
      signal: cancelling.signal,
      onChange,
      hidePlaces: dependencies.hidePlaces,
      fail,
    });
    const bridge = createBridge({ key, heartbeatMs: null, onTurnRequest: relay });
    ports.push(await startModelSocket(socketPath, bridge));
    const places = toClaudePlaces(paths, socketPath);
    await makeExecutorPipes([places.executorRequests, places.executorAnswers]);
    const server = createExecutorServer(tools, executor);
    ports.push(
      openExecutorPipes(places.executorRequests, places.executorAnswers, server, (error) => {
        log.error({ error: String(error) }, 'a call of a subagent has no answer');
        fail('internal', 'A call could not be answered; look at the runner log.');
      }),
    );
    if (how !== undefined) return;
    claude = launchClaude(
      confinement,
      { ...places, executable },
      subsession.claudeSessionId,
      config,
      key,
      tools,
      {
        onResult: ({ isError, text }) =>
          isError
            ? fail('task_failed', `Claude Code ended the task with an error: ${text}`)
            : end({ event: 'completed' }),
        onContractBroken: (reason) =>
          fail(
            'launch_failed',
            `Claude Code is not set up as it has to be: ${reason}; install the supported version.`,
          ),
        onExit: (exit) =>
          fail(
            'claude_exited',
            `Its Claude Code ${exit}; look at what it has done and start another one for the rest.`,
          ),
      },
    );
    recordSubagentLaunch(database, session.id, subsession.id, claude.identity, clock());
    onChange();
    claude.sendPrompt(mintRunId(), subsession.task);
  }

  const started = start().catch((error: unknown) => {
    log.error({ error: String(error) }, 'a subagent could not be started');
    const reason = error instanceof ReinsError ? error.message : 'look at the runner log';
    fail('launch_failed', `The subagent could not be started: ${reason}`);
  });
  stopWatching = watchDeadline(
    clock,
    () => subsession.deadline,
    () =>
      fail(
        'time_limit',
        'The subagent reached its max_minutes; give it more (at most 120) or less to do.',
      ),
  );

  return {
    id: subsession.id,
    get isEnding() {
      return how !== undefined;
    },
    end,
    ended,
  };
}
