import type { ChildProcess } from 'node:child_process';
import { isAlive, type ProcessIdentity } from './process-identity.ts';

/** How long a group may take to end by itself before it is killed, in milliseconds. */
const GRACE_MS = 2_000;

/**
 * Ends a child that was spawned as the leader of its own process group, together with that group, and resolves
 * when the child has been reaped. The child's pid cannot be reused before that, so the signals reach no stranger.
 * Descendants that made themselves a session of their own are outside the group and not reached, unless the child
 * keeps them in a process namespace. `program` is asked to end in the child's place, where the child is such a keeper.
 */
export async function endGroup(child: ChildProcess, program?: ProcessIdentity): Promise<void> {
  const { pid } = child;
  if (pid === undefined || hasEnded(child)) return;
  const ended = exitOf(child);
  if (program === undefined) signalGroup(child, pid, 'SIGTERM');
  else if (isAlive(program)) signal(program.pid, 'SIGTERM');
  const kill = setTimeout(() => signalGroup(child, pid, 'SIGKILL'), GRACE_MS);
  await ended;
  clearTimeout(kill);
}

/** The same without asking: for what may have no time to end by itself. */
export async function killGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined || hasEnded(child)) return;
  const ended = exitOf(child);
  signalGroup(child, pid, 'SIGKILL');
  await ended;
}

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function signalGroup(child: ChildProcess, pid: number, name: NodeJS.Signals): void {
  if (!hasEnded(child)) signal(-pid, name);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // ESRCH: it ended between the check and the signal, which is what was wanted.
  }
}
