import { killGroup } from '../process/end-group.ts';
import { type Command, type OwnedChild, spawnOwned } from '../process/spawn-owned.ts';
import { type Supervision, startSupervision } from './supervision.ts';
import type { SupervisorCommand } from './supervisor/messages.ts';

/**
 * Hands out supervisors, one a run. After the first run one more is kept waiting: loading a program takes longer than
 * all else that the adapter adds to a run. A guard, which is hardly more than a shell, sees to it that nothing is left
 * if the adapter and its supervisors are killed together.
 */
export interface SupervisorPool {
  take(): Supervision;
  /** Has one ready for the next run. */
  prepare(): void;
  /** To be called when all runs are over. */
  close(): Promise<void>;
}

/** For the supervisors to end their runs by themselves when the adapter is gone, in seconds. */
const GUARD_PAUSE_SECONDS = 8;
/** Keeps the line that it is given, waits for the end of its input, and gives the line to a supervisor in the end. */
const GUARD_SCRIPT = `read -r line; cat >/dev/null; sleep ${GUARD_PAUSE_SECONDS}; printf '%s\\n' "$line" | "$0" "$@" 3>&1`;

export function createSupervisorPool(command: Command, adapterMarker: string): SupervisorPool {
  let waiting: Supervision | undefined;
  let guard: OwnedChild | undefined;
  let closed = false;

  const ensureGuard = (): void => {
    if (guard !== undefined && guard.exitCode === null && guard.signalCode === null) return;
    const args = ['-c', GUARD_SCRIPT, command.file, ...command.args];
    const child = spawnOwned({ ...command, file: '/bin/sh', args });
    const sweep: SupervisorCommand = { kind: 'sweep', adapterMarker };
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
    child.on('error', () => {});
    child.stdin.write(`${JSON.stringify(sweep)}\n`);
    guard = child;
  };

  return {
    take() {
      ensureGuard();
      const ready = waiting;
      waiting = undefined;
      return ready?.isAlive() ? ready : startSupervision(command);
    },
    prepare() {
      if (!closed && !waiting?.isAlive()) waiting = startSupervision(command);
    },
    async close() {
      closed = true;
      waiting?.dismiss();
      waiting = undefined;
      if (guard !== undefined) await killGroup(guard);
    },
  };
}
