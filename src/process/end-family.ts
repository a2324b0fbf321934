import { setTimeout as sleep } from 'node:timers/promises';
import { describeCommand } from './list-processes.ts';
import type { ProcessFamily } from './process-family.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';

/** Looks at a family that keeps growing while it is being stopped. */
const MAX_STOP_ROUNDS = 50;
/** How long the kernel may take to end what was killed, in milliseconds. */
const KILLED_MS = 2_000;
const LOOK_MS = 40;
const MAX_SURVIVORS = 20;

export interface Survivor {
  readonly pid: number;
  readonly command: string;
}

/**
 * Ends every member of a family and says what lives all the same, at most 20 of them. Asked to end first, for
 * `graceMs`; then stopped, so that none can start another while the rest is looked for, until a look finds nothing
 * new; then killed. Each is looked at right before a signal, and one that is not the very process that was found is
 * left alone. Nothing pins the pid of a process that is no child of the caller between look and signal: for that
 * moment its start time is what is relied on.
 */
export async function endFamily(family: ProcessFamily, graceMs: number): Promise<Survivor[]> {
  let living = family.look();
  if (living.length === 0) return [];
  for (const member of living) signal(member, 'SIGTERM');
  for (let waited = 0; waited < graceMs && living.length > 0; waited += LOOK_MS) {
    await sleep(LOOK_MS);
    living = family.look();
  }
  const stopped = new Set<number>();
  for (let round = 0; round < MAX_STOP_ROUNDS; round += 1) {
    const fresh = family.look().filter(({ pid }) => !stopped.has(pid));
    if (fresh.length === 0) break;
    for (const member of fresh) {
      signal(member, 'SIGSTOP');
      stopped.add(member.pid);
    }
  }
  for (let waited = 0; ; waited += LOOK_MS) {
    living = family.look();
    if (living.length === 0 || waited >= KILLED_MS) break;
    for (const member of living) signal(member, 'SIGKILL');
    await sleep(LOOK_MS);
  }
  return living.slice(0, MAX_SURVIVORS).map(({ pid }) => ({ pid, command: describeCommand(pid) }));
}

function signal(identity: ProcessIdentity, name: NodeJS.Signals): void {
  try {
    if (isAlive(identity)) process.kill(identity.pid, name);
  } catch {
    // ESRCH: it has just ended. EPERM: it is another user's now, and will be found among the living.
  }
}
