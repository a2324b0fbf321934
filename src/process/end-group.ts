import type { ChildProcess } from 'node:child_process';

/** How long a group may take to end by itself before it is killed, in milliseconds. */
const GRACE_MS = 2_000;

/**
 * Ends a child that was spawned as the leader of its own process group, together with that group, and resolves
 * when the child has been reaped. The child's pid cannot be reused before that, so the signals reach no stranger.
 * Descendants that made themselves a session of their own are outside the group and not reached.
 */
export async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined || hasEnded(child)) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  signalGroup(child, pid, 'SIGTERM');
  const kill = setTimeout(() => signalGroup(child, pid, 'SIGKILL'), GRACE_MS);
  await ended;
  clearTimeout(kill);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function signalGroup(child: ChildProcess, pid: number, signal: NodeJS.Signals): void {
  if (hasEnded(child)) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: the group ended between the check and the signal, which is what was wanted.
  }
}
