import { killGroup } from '../process/end-group.ts';
import {
  type Command,
  type OwnedChild,
  type PipedChild,
  spawnOwned,
} from '../process/spawn-owned.ts';
import { type Supervision, type SupervisorLaunch, startSupervision } from './supervision.ts';
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
  /** Lets those go that wait; the guard only when all runs are over, since it is what ends the rest otherwise. */
  close(isAllOver: boolean): Promise<void>;
}

/** A guard that ends by itself each time is not started without end. */
const MAX_GUARD_REPLACEMENTS = 3;
/** For the supervisors to end their runs by themselves when the adapter is gone, in seconds. */
const GUARD_PAUSE_SECONDS = 8;
/** Keeps the line that it is given, waits for the end of its input, and gives the line to a supervisor in the end. */
const GUARD_SCRIPT = `read -r line; cat >/dev/null; sleep ${GUARD_PAUSE_SECONDS}; printf '%s\\n' "$line" | "$0" "$@" 3>&1`;

export function createSupervisorPool(
  launch: SupervisorLaunch,
  guardCommand: Command,
  adapterMarker: string,
): SupervisorPool {
  let waiting: Supervision | undefined;
  let guard: OwnedChild | undefined;
  let closed = false;

  /** Also while runs go on: one that has ended is replaced at once, a few times until the next run. */
  const ensureGuard = (replacements = MAX_GUARD_REPLACEMENTS): void => {
    if (guard !== undefined && guard.exitCode === null && guard.signalCode === null) return;
    const child = startGuard(guardCommand);
    const sweep: SupervisorCommand = { kind: 'sweep', adapterMarker };
    child?.stdin.write(`${JSON.stringify(sweep)}\n`);
    child?.once('exit', () => {
      if (!closed && replacements > 0) ensureGuard(replacements - 1);
    });
    guard = child;
  };

  return {
    take() {
      ensureGuard();
      const ready = waiting;
      waiting = undefined;
      return ready?.isAlive() ? ready : startSupervision(launch);
    },
    prepare() {
      if (!closed && !waiting?.isAlive()) waiting = startSupervision(launch);
    },
    async close(isAllOver) {
      closed = true;
      waiting?.dismiss();
      waiting = undefined;
      if (isAllOver && guard !== undefined) await killGroup(guard);
    },
  };
}

/** Undefined when there is nothing to start it with; the next run tries again. */
function startGuard(command: Command): PipedChild | undefined {
  try {
    const args = ['-c', GUARD_SCRIPT, command.file, ...command.args];
    const child = spawnOwned({ ...command, file: '/bin/sh', args });
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
    return child;
  } catch {
    return undefined;
  }
}
