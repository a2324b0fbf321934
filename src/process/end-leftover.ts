import { isAlive, type ProcessIdentity } from './process-identity.ts';

/** How long a leftover may take to end by itself before it is killed, in milliseconds. */
const GRACE_MS = 1_000;
const LOOK_MS = 20;

/**
 * Ends the group of a process that was started by a process of ours which is gone. It is looked at right before each
 * signal: one that is not the very process that was recorded is never signalled. It is no child of this process, so
 * nothing pins its pid between look and signal; for that moment the start time in the record is what is relied on.
 */
export async function endLeftover(identity: ProcessIdentity): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!isAlive(identity)) return;
    try {
      process.kill(-identity.pid, signal);
    } catch {
      return;
    }
    for (let waited = 0; waited < GRACE_MS && isAlive(identity); waited += LOOK_MS) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}
