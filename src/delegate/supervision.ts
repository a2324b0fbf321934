import { parseJson } from '../base/parse-json.ts';
import { splitLines } from '../base/split-lines.ts';
import { withinTime } from '../base/within-time.ts';
import { endFamily, type Survivor } from '../process/end-family.ts';
import { createFamily } from '../process/process-family.ts';
import type { ProcessIdentity } from '../process/process-identity.ts';
import { type Command, childEnd } from '../process/spawn-owned.ts';
import { type ReportingChild, spawnReporting } from '../process/spawn-reporting.ts';
import type { RunExit } from './decide-outcome.ts';
import {
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
  /** The supervisor ended without its report. What the adapter found of the run itself was ended, for what it is worth. */
  | { readonly kind: 'unreported'; readonly survivors: readonly Survivor[] };

export interface SupervisionEnd {
  /** Why Claude Code could not be started; null when it was, or when nobody knows. */
  readonly notStarted: string | null;
  readonly exit: RunExit;
  readonly cleanup: CleanupReport;
}

export interface SupervisionHandlers {
  onStarted(): void;
  onExited(): void;
  onOutput(chunk: Buffer): void;
  onErrorOutput(chunk: Buffer): void;
}

/** The adapter's end of one supervisor. */
export interface Supervision {
  /** Whether its process runs, as far as is known. */
  isAlive(): boolean;
  /** Starts Claude Code. Resolves when the run is over: the supervisor has reported so, or is gone. */
  run(order: SupervisorOrder, handlers: SupervisionHandlers): Promise<SupervisionEnd>;
  /** Ends the run. */
  requestEnd(): void;
  /** Lets a supervisor go that has no run. */
  dismiss(): void;
}

/** Longer than the supervisor takes for all that it may wait for. Milliseconds. */
const END_TIMEOUT_MS = 20_000;
/** Output can still be in the pipe when the last writer is gone; a survivor may keep it open for good. Milliseconds. */
const DRAIN_MS = 2_000;
const SWEEP_GRACE_MS = 500;

/** Starts a supervisor, which waits for its order. */
export function startSupervision(command: Command): Supervision {
  const supervisor = spawnReporting(command);
  let failure: Error | undefined;
  const gone = childEnd(supervisor.child).then(({ error }) => {
    failure = error;
  });
  const send = (message: SupervisorCommand): void => {
    supervisor.stdin.write(`${JSON.stringify(message)}\n`);
  };
  let endTimer: NodeJS.Timeout | undefined;
  return {
    isAlive: () => supervisor.child.exitCode === null && supervisor.child.signalCode === null,
    async run(order, handlers) {
      const seen = watchReports(supervisor, handlers);
      supervisor.stdout.on('data', (chunk: Buffer) => handlers.onOutput(chunk));
      supervisor.stderr.on('data', (chunk: Buffer) => handlers.onErrorOutput(chunk));
      const drained = Promise.all([closed(supervisor.stdout), closed(supervisor.stderr)]);
      send({ kind: 'order', ...order });
      await Promise.race([seen.cleaned, gone]);
      // It may have reported right before it went.
      await withinTime(seen.cleaned, DRAIN_MS);
      clearTimeout(endTimer);
      if (failure !== undefined) {
        const notStarted = `its supervisor could not be started (${failure.message})`;
        return { notStarted, exit: seen.exit, cleanup: { kind: 'clean' } };
      }
      const cleanup = seen.last ?? (await sweep(supervisor, order.marker, seen.members));
      await withinTime(drained, DRAIN_MS);
      for (const stream of [supervisor.stdout, supervisor.stderr, supervisor.channel]) {
        stream.destroy();
      }
      return { notStarted: seen.notStarted, exit: seen.exit, cleanup };
    },
    requestEnd() {
      send({ kind: 'end' });
      // A supervisor that does not get it done is as good as gone.
      endTimer ??= setTimeout(() => supervisor.child.kill('SIGKILL'), END_TIMEOUT_MS);
    },
    dismiss() {
      clearTimeout(endTimer);
      send({ kind: 'dismiss' });
    },
  };
}

interface SeenReports {
  members: readonly ProcessIdentity[];
  notStarted: string | null;
  exit: RunExit;
  last: CleanupReport | undefined;
  readonly cleaned: Promise<void>;
}

function watchReports(supervisor: ReportingChild, handlers: SupervisionHandlers): SeenReports {
  let settle = (): void => {};
  const seen: SeenReports = {
    members: [],
    notStarted: null,
    exit: { kind: 'unknown' },
    last: undefined,
    cleaned: new Promise((resolve) => {
      settle = resolve;
    }),
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
      case 'exited':
        seen.exit = toExit(report.exitCode, report.signal);
        handlers.onExited();
        return;
      case 'cleaned':
        seen.last =
          report.survivors.length === 0
            ? { kind: 'clean' }
            : { kind: 'survivors', survivors: report.survivors };
        settle();
    }
  };
  const takeLine = (line: string): void => {
    const report = supervisorReportSchema.safeParse(parseJson(line));
    if (report.success) take(report.data);
  };
  supervisor.channel.on('data', splitLines(MAX_REPORT_BYTES, takeLine));
  supervisor.channel.once('close', () => settle());
  return seen;
}

function toExit(exitCode: number | null, signal: string | null): RunExit {
  if (signal !== null) return { kind: 'signal', signal };
  return exitCode === null ? { kind: 'unknown' } : { kind: 'code', code: exitCode };
}

/** The supervisor is gone: what it had found of its run, and what carries the run's marker, is ended from here. */
async function sweep(
  supervisor: ReportingChild,
  marker: string,
  known: readonly ProcessIdentity[],
): Promise<CleanupReport> {
  supervisor.child.kill('SIGKILL');
  const family = createFamily({ marker, self: process.pid, known });
  return { kind: 'unreported', survivors: await endFamily(family, SWEEP_GRACE_MS) };
}

function closed(stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => stream.once('close', () => resolve()));
}
