import { randomBytes } from 'node:crypto';
import type { RunId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import type { Invocation } from '../claude/encode-invocation.ts';
import { requireTransition } from '../machine/transition-table.ts';
import {
  type Cleanup,
  decideOutcome,
  type LaunchFailureCode,
  type Outcome,
  type RunCause,
  type RunExit,
} from './decide-outcome.ts';
import {
  DELEGATED_RUN_TABLE,
  type DelegatedRunEvent,
  type DelegatedRunState,
} from './delegated-run-machine.ts';
import { type CodedError, describeCleanup, describeOutcome } from './describe-outcome.ts';
import type { EventWindow } from './event-window.ts';
import { createOutputTail } from './output-tail.ts';
import type { FinalEvent } from './result-evidence.ts';
import { createRunStream, type LastEvent } from './run-stream.ts';
import type { Supervision, SupervisionEnd, UnsuitableProgram } from './supervision.ts';
import { MARKER_VARIABLE } from './supervisor/messages.ts';
import type { SupervisorPool } from './supervisor-pool.ts';

/** The next supervisor is not started while this one's Claude Code starts, which needs the processor more. Milliseconds. */
const PREPARE_MS = 1_500;

export interface RunRequest {
  readonly id: RunId;
  readonly invocation: Invocation;
  readonly workingDirectory: string;
  readonly timeoutMs: number;
  readonly permissionMode: string;
  /** Whether Claude Code saves the conversation. */
  readonly isSaved: boolean;
  /** The native session id, where the caller gave one. */
  readonly sessionId: string | null;
  /** D7: the host's id of the call that started the run; null for a client that has none. */
  readonly acquiredBy: string | null;
}

export interface RunPorts {
  /** What the right program is asked, and what it answers. */
  readonly question: { readonly args: readonly string[]; readonly answer: string };
  /** What may be Claude Code, best first. Throws `claude_not_found`. */
  findClaude(): readonly string[];
  /** One sentence about candidates none of which is. */
  describeUnsuitable(seen: readonly UnsuitableProgram[]): string;
  readonly supervisors: SupervisorPool;
  readonly adapterMarker: string;
  /** The environment of the native process, without a marker. */
  readonly environment: Readonly<Record<string, string>>;
  /** The marker that this adapter's own environment has, when it is itself part of a run. */
  readonly outerMarker: string | null;
  now(): Date;
}

/** How a run stands, and, once it is settled, what became of it. */
export interface RunView {
  readonly id: RunId;
  readonly state: DelegatedRunState;
  /** Whether it is over: not whether it succeeded. */
  readonly settled: boolean;
  readonly error: CodedError | null;
  readonly sessionId: string | null;
  readonly finalEvent: FinalEvent | null;
  readonly exit: RunExit;
  readonly cleanup: Cleanup | null;
  readonly cleanupError: CodedError | null;
  readonly createdAt: Date;
  readonly settledAt: Date | null;
  readonly permissionMode: string;
  readonly lastEvent: LastEvent | null;
  readonly skippedLines: number;
  readonly stopRequested: boolean;
}

export interface DelegatedRun {
  readonly id: RunId;
  readonly acquiredBy: string | null;
  readonly events: EventWindow;
  /** Resolves when the run is over and its processes have been accounted for. */
  readonly settled: Promise<void>;
  view(): RunView;
  /** Ends the run. Does nothing when something else has ended it already, or it has ended by itself. */
  stop(cause: RunCause): void;
}

/** Nothing was started, so nothing is left. */
const NEVER_STARTED: SupervisionEnd = {
  notStarted: null,
  unsuitable: null,
  exit: { kind: 'unknown' },
  cleanup: { kind: 'clean' },
};

/** Starts a run: its whole life is in `live` below. */
export function startDelegatedRun(request: RunRequest, ports: RunPorts): DelegatedRun {
  const createdAt = ports.now();
  const stream = createRunStream(ports.now);
  const stderr = createOutputTail();
  let state: DelegatedRunState = 'starting';
  let cause: RunCause | null = null;
  let exited = false;
  let end: SupervisionEnd = NEVER_STARTED;
  let settlement: { readonly outcome: Outcome; readonly at: Date } | null = null;
  let supervision: Supervision | undefined;
  let preparing: NodeJS.Timeout | undefined;

  const move = (event: DelegatedRunEvent): void => {
    state = requireTransition(DELEGATED_RUN_TABLE, state, event);
  };
  const stop = (why: RunCause): void => {
    // What has ended by itself cannot be ended any more.
    if (cause !== null || exited || settlement !== null) return;
    cause = why;
    supervision?.requestEnd();
  };

  const live = async (): Promise<void> => {
    const deadline = setTimeout(() => {
      // What has come meanwhile is read first: this process can have been held up itself.
      setImmediate(() => setImmediate(() => stop({ kind: 'timed_out' })));
    }, request.timeoutMs);
    try {
      const candidates = ports.findClaude();
      supervision = ports.supervisors.take();
      end = await supervise(candidates, supervision);
    } catch (error) {
      stop(toLaunchFailure(error));
    }
    if (end.unsuitable !== null) {
      const message = ports.describeUnsuitable(end.unsuitable);
      stop({ kind: 'launch_failed', code: 'claude_version_unsupported', message });
    }
    if (end.notStarted !== null) {
      stop({ kind: 'launch_failed', code: 'claude_not_started', message: end.notStarted });
    }
    clearTimeout(deadline);
    clearTimeout(preparing);
    settle();
    setImmediate(ports.supervisors.prepare);
  };
  const supervise = async (
    candidates: readonly string[],
    by: Supervision,
  ): Promise<SupervisionEnd> => {
    const marker = `${ports.adapterMarker}.${randomBytes(15).toString('base64url')}`;
    const markers = ports.outerMarker === null ? marker : `${ports.outerMarker}:${marker}`;
    const over = await by.run(
      {
        candidates,
        question: ports.question,
        args: request.invocation.argv,
        cwd: request.workingDirectory,
        env: { ...ports.environment, [MARKER_VARIABLE]: markers },
        stdin: request.invocation.stdin,
        marker,
      },
      {
        onStarted() {
          move('claude_started');
          preparing = setTimeout(ports.supervisors.prepare, PREPARE_MS);
        },
        onExited() {
          exited = true;
        },
        onOutput: stream.write,
        onErrorOutput: stderr.write,
      },
    );
    stream.end();
    return over;
  };
  const settle = (): void => {
    const outcome = decideOutcome({
      cause,
      finding: stream.evidence().finding,
      exit: end.exit,
      cleanup: end.cleanup.kind === 'clean' ? 'confirmed' : 'unconfirmed',
    });
    settlement = { outcome, at: ports.now() };
    move(outcome.event);
  };

  const view = (): RunView => {
    const cleanupError = describeCleanup(end.cleanup);
    const sessionId = stream.sessionId() ?? request.sessionId;
    const facts = {
      ...{ cause, end, stream, stderr: stderr.text(), cleanupError },
      savedSession: request.isSaved ? stream.sessionId() : null,
    };
    return {
      id: request.id,
      state,
      settled: settlement !== null,
      error: settlement === null ? null : describeOutcome(settlement, request.timeoutMs, facts),
      sessionId,
      finalEvent: stream.evidence().finalEvent,
      exit: end.exit,
      cleanup:
        settlement === null ? null : end.cleanup.kind === 'clean' ? 'confirmed' : 'unconfirmed',
      cleanupError,
      createdAt,
      settledAt: settlement?.at ?? null,
      permissionMode: request.permissionMode,
      lastEvent: stream.lastEvent(),
      skippedLines: stream.skippedLines(),
      stopRequested: cause !== null && settlement === null,
    };
  };

  return {
    id: request.id,
    acquiredBy: request.acquiredBy,
    events: stream.events,
    settled: live(),
    view,
    stop,
  };
}

function toLaunchFailure(error: unknown): RunCause {
  const known: Readonly<Record<string, LaunchFailureCode>> = {
    claude_not_found: 'claude_not_found',
    claude_version_unsupported: 'claude_version_unsupported',
    claude_not_executable: 'claude_not_executable',
  };
  const code = error instanceof ReinsError ? known[error.code] : undefined;
  return {
    kind: 'launch_failed',
    code: code ?? 'internal',
    message:
      error instanceof Error && code !== undefined
        ? error.message
        : 'The adapter failed in a way that it does not know; its log says more.',
  };
}
