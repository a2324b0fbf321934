import type { DelegatedRun } from '../../delegate/delegated-run.ts';

/** Often enough for a client that gives up after a minute of silence, or after ten seconds. */
const PROGRESS_MS = 5_000;

export interface ProgressUpdate {
  /** Seconds that have passed: the end of a run is not known, so there is no total. */
  readonly progress: number;
  readonly message: string;
}

/** Sends how a run gets on, at once and every few seconds, until it is stopped. */
export function watchRun(
  run: DelegatedRun,
  send: (update: ProgressUpdate) => void,
): { stop(): void } {
  const startedAt = performance.now();
  const update = (): void => {
    const { state, lastEvent } = run.view();
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    const last = lastEvent === null ? 'no event yet' : `last event: ${lastEvent.type}`;
    send({ progress: seconds, message: `${state}, ${last}` });
  };
  update();
  const timer = setInterval(update, PROGRESS_MS);
  return { stop: () => clearInterval(timer) };
}
