import { parseJson } from '../base/parse-json.ts';
import { splitLines } from '../base/split-lines.ts';
import { withinTime } from '../base/within-time.ts';
import { endFamily, endFamilyMs, type Survivor } from '../process/end-family.ts';
import { killGroup } from '../process/end-group.ts';
import { createFamily } from '../process/process-family.ts';
import type { ProcessIdentity } from '../process/process-identity.ts';
import { type Command, childEnd } from '../process/spawn-owned.ts';
import { type ReportingChild, spawnReporting } from '../process/spawn-reporting.ts';
import type { RunExit } from './decide-outcome.ts';
import {
  MARKER_VARIABLE,
  MAX_REPORT_BYTES,
  type SupervisorCommand,
  type SupervisorOrder,
  type SupervisorReport,
  supervisorReportSchema,
} from './supervisor/messages.ts';

/** How the end of everything that a run started was seen. */
export type CleanupReport =
  | { readonly kind: 'clean' }
  | { readonly kind: 'survivors'; readonly survivors: readonly Survivor[] }
  /** The supervisor ended without its report. What was found of the run was ended all the same. */
  | { readonly kind: 'unreported'; readonly survivors: readonly Survivor[] };

/** What a program that is not the one that is wanted said of itself. */
export interface UnsuitableProgram {
  readonly file: string;
  readonly said: string;
}

export interface SupervisionEnd {
  /** Why Claude Code could not be started; null when it was, or when nobody knows. */
  readonly notStarted: string | null;
  /** Set when no candidate was the program that is wanted. */
  readonly unsuitable: readonly UnsuitableProgram[] | null;
  readonly exit: RunExit;
  readonly cleanup: CleanupReport;
}

export interface SupervisionHandlers {
  onStarted(): void;
  onExited(): void;
  onOutput(chunk: Buffer): void;
  onErrorOutput(chunk: Buffer): void;
}

/** How supervisors are started here. */
export interface SupervisorLaunch {
  readonly command: Command;
  /** Whether the command stays the supervisor's parent, adopts and reaps, and reports that in the end. */
  readonly isAdopted: boolean;
}

/** The adapter's end of one supervisor. */
export interface Supervision {
  /** Whether its process runs, as far as is known. */
  isAlive(): boolean;
  /** Starts Claude Code. Resolves when the run is over: that has been reported, or whoever would is gone. Never rejects. */
  run(
    order: Omit<SupervisorOrder, 'adopterPid'>,
    handlers: SupervisionHandlers,
  ): Promise<SupervisionEnd>;
  /** Ends the run. */
  requestEnd(): void;
  /** Lets a supervisor go that has no run. */
  dismiss(): void;
}

/** Longer than a supervisor takes for all that it may wait for, looks on a busy machine included. Milliseconds. */
export const END_TIMEOUT_MS = 2 * endFamilyMs(3_000);
/** Output can still be in the pipe when the last writer is gone; a survivor may keep it open for good. Milliseconds. */
const DRAIN_MS = 2_000;
const SWEEP_GRACE_MS = 500;

/** Starts a supervisor, which waits for its order. Where none can be started, its run says so. */
export function startSupervision(launch: SupervisorLaunch): Supervision {
  try {
    return supervise(spawnReporting(launch.command), launch.isAdopted);
  } catch (error) {
    return createFailedSupervision(error instanceof Error ? error.message : String(error));
  }
}

function supervise(supervisor: ReportingChild, isAdopted: boolean): Supervision {
  let failure: Error | undefined;
  const gone = childEnd(supervisor.child).then(({ error }) => {
    failure = error;
  });
  const send = (message: SupervisorCommand): void => {
    supervisor.stdin.write(`${JSON.stringify(message)}\n`);
  };
  let endTimer: NodeJS.Timeout | undefined;
  /** From now on it has to come to an end: one that does not is as good as gone, and ended with its group. */
  const expectEnd = (): void => {
    endTimer ??= setTimeout(() => void killGroup(supervisor.child), END_TIMEOUT_MS);
  };
  return {
    isAlive: () => supervisor.child.exitCode === null && supervisor.child.signalCode === null,
    async run(order, handlers) {
      const seen = watchReports(supervisor, {
        ...handlers,
        onExited() {
          expectEnd();
          handlers.onExited();
        },
      });
      takeOutput(supervisor, handlers);
      const drained = Promise.all([closed(supervisor.stdout), closed(supervisor.stderr)]);
      const adopterPid = isAdopted ? (supervisor.child.pid ?? null) : null;
      send({ kind: 'order', ...order, adopterPid });
      // It may have reported right before it went.
      await Promise.race([
        seen.channelClosed,
        gone.then(() => withinTime(seen.channelClosed, DRAIN_MS)),
      ]);
      clearTimeout(endTimer);
      if (failure !== undefined) return toFailure(failure.message);
      const isSeen = seen.cleanup !== undefined && (!isAdopted || seen.isReaped);
      const cleanup = isSeen
        ? (seen.cleanup ?? { kind: 'clean' })
        : await sweep(supervisor, order.marker, seen.members);
      await withinTime(drained, DRAIN_MS);
      for (const stream of [supervisor.stdout, supervisor.stderr, supervisor.channel]) {
        stream.destroy();
      }
      supervisor.stdin.end();
      return { notStarted: seen.notStarted, unsuitable: seen.unsuitable, exit: seen.exit, cleanup };
    },
    requestEnd() {
      send({ kind: 'end' });
      expectEnd();
    },
    dismiss() {
      clearTimeout(endTimer);
      send({ kind: 'dismiss' });
    },
  };
}

function createFailedSupervision(reason: string): Supervision {
  return {
    isAlive: () => false,
    run: async () => toFailure(reason),
    requestEnd() {},
    dismiss() {},
  };
}

/** Nothing was started, so nothing is left. */
function toFailure(reason: string): SupervisionEnd {
  return {
    notStarted: `its supervisor could not be started (${reason})`,
    unsuitable: null,
    exit: { kind: 'unknown' },
    cleanup: { kind: 'clean' },
  };
}

/** One chunk at a time, so that a run which prints without end leaves time for everything else. */
function takeOutput(supervisor: ReportingChild, handlers: SupervisionHandlers): void {
  const { stdout, stderr } = supervisor;
  for (const [stream, take] of [
    [stdout, handlers.onOutput],
    [stderr, handlers.onErrorOutput],
  ] as const) {
    stream.on('data', (chunk: Buffer) => {
      take(chunk);
      stream.pause();
      setImmediate(() => stream.resume());
    });
  }
}

interface SeenReports {
  members: readonly ProcessIdentity[];
  notStarted: string | null;
  unsuitable: readonly UnsuitableProgram[] | null;
  exit: RunExit;
  cleanup: CleanupReport | undefined;
  isReaped: boolean;
  /** Nobody is left who could report. */
  readonly channelClosed: Promise<void>;
}

function watchReports(supervisor: ReportingChild, handlers: SupervisionHandlers): SeenReports {
  const seen: SeenReports = {
    members: [],
    notStarted: null,
    unsuitable: null,
    exit: { kind: 'unknown' },
    cleanup: undefined,
    isReaped: false,
    channelClosed: closed(supervisor.channel),
  };
  const take = (report: SupervisorReport): void => {
    switch (report.kind) {
      case 'started':
        handlers.onStarted();
        return;
      case 'members':
        seen.members = report.members;
        return;
      case 'not_started':
        seen.notStarted = report.reason;
        return;
      case 'unsuitable':
        seen.unsuitable = report.seen;
        return;
      case 'exited':
        seen.exit = toExit(report.exitCode, report.signal);
        handlers.onExited();
        return;
      case 'cleaned':
        seen.cleanup =
          report.survivors.length === 0
            ? { kind: 'clean' }
            : { kind: 'survivors', survivors: report.survivors };
        return;
      case 'reaped':
        seen.isReaped = true;
        // Whoever had survived by then has not.
        if (seen.cleanup?.kind === 'survivors') seen.cleanup = { kind: 'clean' };
    }
  };
  const takeLine = (line: string): void => {
    const report = supervisorReportSchema.safeParse(parseJson(line));
    if (report.success) take(report.data);
  };
  supervisor.channel.on('data', splitLines(MAX_REPORT_BYTES, takeLine));
  return seen;
}

function toExit(exitCode: number | null, signal: string | null): RunExit {
  if (signal !== null) return { kind: 'signal', signal };
  return exitCode === null ? { kind: 'unknown' } : { kind: 'code', code: exitCode };
}

/** Nobody has reported the end: what had been found of the run, and what carries its marker, is ended from here. */
async function sweep(
  supervisor: ReportingChild,
  marker: string,
  known: readonly ProcessIdentity[],
): Promise<CleanupReport> {
  supervisor.stdin.end();
  void killGroup(supervisor.child);
  const family = createFamily({
    marker: { variable: MARKER_VARIABLE, name: marker },
    self: process.pid,
    known,
  });
  return { kind: 'unreported', survivors: await endFamily(family, SWEEP_GRACE_MS) };
}

function closed(stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => stream.once('close', () => resolve()));
}
