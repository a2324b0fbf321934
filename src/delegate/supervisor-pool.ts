import type { Command } from '../process/spawn-owned.ts';
import { type Supervision, startSupervision } from './supervision.ts';

/**
 * Hands out supervisors, one a run. After the first run one more is kept waiting: loading a program takes longer than
 * all else that the adapter adds to a run. The one that waits also ends what the others leave, if they are killed
 * together with the adapter.
 */
export interface SupervisorPool {
  take(): Supervision;
  /** Has one ready for the next run. */
  prepare(): void;
  close(): void;
}

export function createSupervisorPool(command: Command, adapterMarker: string): SupervisorPool {
  let waiting: Supervision | undefined;
  let closed = false;
  return {
    take() {
      const ready = waiting;
      waiting = undefined;
      return ready?.isAlive() ? ready : startSupervision(command, adapterMarker);
    },
    prepare() {
      if (!closed && !waiting?.isAlive()) waiting = startSupervision(command, adapterMarker);
    },
    close() {
      closed = true;
      waiting?.dismiss();
      waiting = undefined;
    },
  };
}
