import type { RunId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { withinTime } from '../base/within-time.ts';
import {
  type DelegatedRun,
  type RunPorts,
  type RunRequest,
  startDelegatedRun,
} from './delegated-run.ts';
import { END_TIMEOUT_MS } from './supervision.ts';

/** D5. */
export const MAX_RETAINED_RUNS = 32;
export const MAX_UNSETTLED_RUNS = 4;
/** For all runs to be ended and accounted for when the adapter closes, in milliseconds. */
const CLOSE_MS = END_TIMEOUT_MS + 5_000;

/** The runs of one adapter. They live in its memory alone: an adapter that is replaced knows none of them. */
export interface RunRegistry {
  /** Reserves a place and starts. Throws `run_capacity`. */
  start(request: RunRequest): DelegatedRun;
  /** Throws `run_unknown`. */
  find(id: string): DelegatedRun;
  list(): readonly DelegatedRun[];
  /** Forgets a run that is settled and cleaned up. Throws `run_unknown`, `run_active` or `cleanup_unconfirmed`. */
  release(id: string): void;
  /** Ends every run. Nothing can be started afterwards. */
  close(): Promise<void>;
}

export function createRunRegistry(ports: RunPorts): RunRegistry {
  const runs = new Map<RunId, DelegatedRun>();
  let closing = false;

  const find = (id: string): DelegatedRun => {
    const run = [...runs.values()].find((each) => each.id === id);
    if (run !== undefined) return run;
    throw new ReinsError(
      'run_unknown',
      'There is no run with this run_id: it was released, was let go for a newer one, or belongs to another connection. claude.run.list shows the runs that there are; a saved conversation can be resumed by its session_id.',
    );
  };

  return {
    start(request) {
      if (closing) throw new ReinsError('run_capacity', 'The adapter is closing; connect again.');
      const unsettled = [...runs.values()].filter((run) => !isDone(run)).length;
      if (unsettled >= MAX_UNSETTLED_RUNS) {
        throw new ReinsError(
          'run_capacity',
          `${MAX_UNSETTLED_RUNS} runs are active or not known to be cleaned up, which is the limit; wait for one with claude.run.result, cancel one, or connect again if their cleanup stays unconfirmed.`,
        );
      }
      if (runs.size >= MAX_RETAINED_RUNS) evictOldest(runs);
      const run = startDelegatedRun(request, ports);
      runs.set(run.id, run);
      return run;
    },
    find,
    list: () => [...runs.values()],
    release(id) {
      const run = find(id);
      const { settled, cleanup } = run.view();
      if (!settled) {
        throw new ReinsError(
          'run_active',
          'The run is still under way; cancel it with claude.run.cancel, or wait with claude.run.result, and release it then.',
        );
      }
      if (cleanup !== 'confirmed') {
        throw new ReinsError(
          'cleanup_unconfirmed',
          'Not every process of the run is known to have ended, so its record is kept until the adapter ends; cleanup_error in its result says what is left.',
        );
      }
      runs.delete(run.id);
    },
    async close() {
      closing = true;
      for (const run of runs.values()) run.stop({ kind: 'adapter_closing' });
      const all = [...runs.values()];
      await withinTime(Promise.all(all.map(({ settled }) => settled)), CLOSE_MS);
      await ports.supervisors.close(all.every((run) => run.view().settled));
    },
  };
}

function isDone(run: DelegatedRun): boolean {
  const { settled, cleanup } = run.view();
  return settled && cleanup === 'confirmed';
}

/** Every run that is not done has kept its place, and there are fewer of those than places. */
function evictOldest(runs: Map<RunId, DelegatedRun>): void {
  const [oldest] = [...runs.values()].filter(isDone).sort((a, b) => settledAt(a) - settledAt(b));
  if (oldest !== undefined) runs.delete(oldest.id);
}

function settledAt(run: DelegatedRun): number {
  return run.view().settledAt?.getTime() ?? Number.POSITIVE_INFINITY;
}
