import { setTimeout as sleep } from 'node:timers/promises';
import { withinTime } from '../../base/within-time.ts';
import { endFamily } from '../../process/end-family.ts';
import { createFamily, type ProcessFamily } from '../../process/process-family.ts';
import { giveUpOutput, spawnInGroup } from '../../process/spawn-in-group.ts';
import { childEnd, type OwnedChild } from '../../process/spawn-owned.ts';
import { MAX_REPORTED_MEMBERS, type SupervisorOrder, type SupervisorReport } from './messages.ts';

/** For Claude Code to save its conversation and end when it is told to, in milliseconds. */
const END_GRACE_MS = 3_000;
/** For what Claude Code left behind when it ended by itself, in milliseconds. */
const LEFTOVER_GRACE_MS = 1_000;
const REAP_MS = 1_000;
/** Ancestry can be seen only while the ancestors live, so it is looked at while the run goes on. */
const LOOK_MS = 200;
/** A look may take at most one part in this many of the time, on a machine with many processes. */
const LOOK_SHARE = 20;

/**
 * One run from the start of Claude Code to the end of its last descendant. Reports each step; the last report is
 * `cleaned`. `endRequested` ends the run, whoever wants that and why.
 */
export async function supervise(
  order: SupervisorOrder,
  endRequested: Promise<void>,
  report: (report: SupervisorReport) => void,
): Promise<void> {
  const started = start(order);
  if (typeof started === 'string') {
    report({ kind: 'not_started', reason: started });
    report({ kind: 'cleaned', survivors: [] });
    return;
  }
  giveUpOutput();
  const { child, pid } = started;
  const family = createFamily({
    marker: order.marker,
    self: process.pid,
    // On macOS the look itself is a child, and the session says the same.
    ownChildren: process.platform === 'linux',
  });
  family.look();
  report({ kind: 'started', pid });
  const watch = new AbortController();
  void keepLooking(family, report, watch.signal);
  let exited = false;
  const exit = childEnd(child).then(({ exitCode, signal }) => {
    exited = true;
    report({ kind: 'exited', exitCode, signal });
  });
  await Promise.race([exit, endRequested]);
  watch.abort();
  const survivors = await endFamily(family, exited ? LEFTOVER_GRACE_MS : END_GRACE_MS);
  await withinTime(exit, REAP_MS);
  report({ kind: 'cleaned', survivors });
}

function start({
  file,
  args,
  cwd,
  env,
  stdin,
}: SupervisorOrder): { readonly child: OwnedChild; readonly pid: number } | string {
  try {
    const child = spawnInGroup({ file, args, cwd, env }, stdin);
    const { pid } = child;
    if (pid !== undefined) return { child, pid };
    child.on('error', () => {});
    return `${file} could not be started`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function keepLooking(
  family: ProcessFamily,
  report: (report: SupervisorReport) => void,
  signal: AbortSignal,
): Promise<void> {
  let reported = '';
  while (!signal.aborted) {
    const startedAt = performance.now();
    const members = family
      .look()
      .slice(0, MAX_REPORTED_MEMBERS)
      .map(({ pid, birth }) => ({ pid, birth }));
    const seen = members.map(({ pid }) => pid).join();
    if (seen !== reported) report({ kind: 'members', members });
    reported = seen;
    const tookMs = performance.now() - startedAt;
    const pauseMs = Math.max(LOOK_MS, tookMs * LOOK_SHARE);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}
