import { setTimeout as sleep } from 'node:timers/promises';
import { describeCommand } from './list-processes.ts';
import type { ProcessFamily } from './process-family.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';

/** For stopping a family that keeps growing meanwhile, in milliseconds. */
const STOP_MS = 5_000;
/** For the kernel to end what was killed, in milliseconds. */
const KILLED_MS = 3_000;
const LOOK_MS = 40;
const MAX_SURVIVORS = 20;

export interface Survivor {
  readonly pid: number;
  readonly command: string;
}

/** The longest that `endFamily` takes with this grace, but for the looks themselves. */
export function endFamilyMs(graceMs: number): number {
  return graceMs + STOP_MS + KILLED_MS;
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
  for (const within = startTimer(graceMs); living.length > 0 && within(); living = family.look()) {
    await sleep(LOOK_MS);
  }
  const stopped = new Set<string>();
  for (const within = startTimer(STOP_MS); within(); ) {
    const fresh = family.look().filter((member) => !stopped.has(`${member.pid} ${member.birth}`));
    if (fresh.length === 0) break;
    for (const member of fresh) {
      signal(member, 'SIGSTOP');
      stopped.add(`${member.pid} ${member.birth}`);
    }
  }
  living = family.look();
  for (
    const within = startTimer(KILLED_MS);
    living.length > 0 && within();
    living = family.look()
  ) {
    for (const member of living) signal(member, 'SIGKILL');
    await sleep(LOOK_MS);
  }
  return living.slice(0, MAX_SURVIVORS).map(({ pid }) => ({ pid, command: describeCommand(pid) }));
}

/** Says whether a time that begins now still lasts. */
function startTimer(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() < end;
}

function signal(identity: ProcessIdentity, name: NodeJS.Signals): void {
  try {
    if (isAlive(identity)) process.kill(identity.pid, name);
  } catch {
    // ESRCH: it has just ended. EPERM: it is another user's now, and will be found among the living.
  }
}
