import { setTimeout as sleep } from 'node:timers/promises';
import { withinTime } from '../../base/within-time.ts';
import { endFamily } from '../../process/end-family.ts';
import { createFamily, type ProcessFamily } from '../../process/process-family.ts';
import { giveUpOutput, spawnApart } from '../../process/spawn-apart.ts';
import { childEnd, type OwnedChild } from '../../process/spawn-owned.ts';
import { findProgram } from './find-program.ts';
import {
  MARKER_VARIABLE,
  MAX_REPORTED_MEMBERS,
  type SupervisorOrder,
  type SupervisorReport,
} from './messages.ts';

/** For Claude Code to save its conversation and end when it is told to, in milliseconds. */
export const END_GRACE_MS = 3_000;
/** For what Claude Code left behind when it ended by itself, in milliseconds. */
const LEFTOVER_GRACE_MS = 1_000;
const REAP_MS = 1_000;
/** Ancestry can be seen only while the ancestors live, so it is looked at while the run goes on. */
const LOOK_MS = 200;
/** A look may take at most one part in this many of the time, on a machine with many processes. */
const LOOK_SHARE = 20;

type Report = (report: SupervisorReport) => void;

/**
 * One run from the question whether the program is the right one to the end of its last descendant. Reports each step;
 * the last report is `cleaned`. `endRequested` ends the run, whoever wants that and why.
 */
export async function supervise(
  order: SupervisorOrder,
  endRequested: Promise<void>,
  report: Report,
): Promise<void> {
  const family = createFamily({
    marker: { variable: MARKER_VARIABLE, name: order.marker },
    self: process.pid,
    // On macOS a look is itself a child, and the session says the same.
    parents: () => (process.platform === 'linux' ? [process.pid, ...adopters(order)] : []),
  });
  const watch = new AbortController();
  void keepLooking(family, report, watch.signal);
  const graceMs = await live(order, family, endRequested, report);
  watch.abort();
  report({ kind: 'cleaned', survivors: await endFamily(family, graceMs) });
}

/** Returns how long what is left of the run may take to end by itself, in milliseconds. */
async function live(
  order: SupervisorOrder,
  family: ProcessFamily,
  endRequested: Promise<void>,
  report: Report,
): Promise<number> {
  let isEndRequested = false;
  void endRequested.then(() => {
    isEndRequested = true;
  });
  const found = await findProgram(order, family, endRequested);
  if (isEndRequested) return 0;
  if (found.kind === 'none') {
    report({ kind: 'unsuitable', seen: [...found.seen] });
    return 0;
  }
  const started = start(order, found.file);
  giveUpOutput();
  if (typeof started === 'string') {
    report({ kind: 'not_started', reason: started });
    return 0;
  }
  family.look();
  report({ kind: 'started', pid: started.pid });
  let exited = false;
  const exit = childEnd(started.child).then(({ exitCode, signal }) => {
    exited = true;
    report({ kind: 'exited', exitCode, signal });
  });
  await Promise.race([exit, endRequested]);
  if (exited) return LEFTOVER_GRACE_MS;
  await endFamily(family, END_GRACE_MS);
  await withinTime(exit, REAP_MS);
  return 0;
}

/** The adopter is this process' parent for as long as it lives; when it is gone, its pid means nothing any more. */
function adopters({ adopterPid }: SupervisorOrder): number[] {
  return adopterPid !== null && process.ppid === adopterPid ? [adopterPid] : [];
}

function start(
  { args, cwd, env, stdin }: SupervisorOrder,
  file: string,
): { readonly child: OwnedChild; readonly pid: number } | string {
  try {
    const child = spawnApart({ file, args, cwd, env }, stdin);
    const { pid } = child;
    return pid === undefined ? `${file} could not be started` : { child, pid };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function keepLooking(
  family: ProcessFamily,
  report: Report,
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
