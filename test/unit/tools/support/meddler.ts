import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What somebody else does to a file while a tool works on it. */
export type Deed =
  | { readonly deed: 'swap'; readonly path: string; readonly other: string }
  | { readonly deed: 'append'; readonly path: string; readonly text: string }
  | { readonly deed: 'rewrite'; readonly path: string; readonly text: string }
  | { readonly deed: 'watch'; readonly path: string };

export interface MeddlerReport {
  readonly rounds: number;
  /** How often a watched file was not there. */
  readonly missing: number;
  /** Every size that a watched file was seen with. */
  readonly sizes: readonly number[];
}

/** Runs `work` while a thread of its own does the deed as fast as it can; the deed is undone when this returns. */
export async function whileMeddling(deed: Deed, work: () => Promise<void>): Promise<MeddlerReport> {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL('./meddler-worker.mjs', import.meta.url), {
    workerData: { ...deed, flag },
  });
  await once(worker, 'message');
  const reported = once(worker, 'message');
  try {
    await work();
  } finally {
    Atomics.store(flag, 0, 1);
  }
  const [report] = await reported;
  await worker.terminate();
  return report;
}
