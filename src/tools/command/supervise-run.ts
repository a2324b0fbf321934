import { dirname } from 'node:path';
import { MAX_PROCESSES } from '../../confine/command-request.ts';
import type { ConfinedRun } from '../../confine/confinement.ts';
import { type BoundedRun, type RunBounds, runBounded } from '../../process/run-bounded.ts';
import type { ToolContext } from '../tool.ts';

/** How often a run is looked at, in milliseconds. */
const LOOK_MS = 100;

/** Why a run was ended by who looked at it. */
export type StopCause = 'command_too_many_processes' | 'protected_path' | undefined;

/** Runs it and looks at it meanwhile: at its processes, and whether a protected place has moved in the meantime. */
export async function superviseRun(
  run: ConfinedRun,
  context: ToolContext,
  hidden: readonly string[],
  bounds: RunBounds & { readonly signal: AbortSignal },
): Promise<{ readonly result: BoundedRun; readonly cause: StopCause; readonly started: boolean }> {
  const known = new Set(hidden);
  const isKnown = (path: string): boolean =>
    known.has(path) || (path !== '/' && isKnown(dirname(path)));
  const own = new AbortController();
  let cause: StopCause;
  const stop = (because: StopCause): void => {
    cause ??= because;
    own.abort();
  };
  let look: NodeJS.Timeout | undefined;
  let program: Promise<number | undefined> = Promise.resolve(undefined);
  const result = await runBounded(run.command, {
    ...bounds,
    signal: AbortSignal.any([bounds.signal, own.signal]),
    onStart(child) {
      program = run.findProgram(child);
      void program.then((pid) => {
        if (pid === undefined || child.exitCode !== null) return;
        look = setInterval(() => {
          if ((run.countProcesses(child.pid ?? 0) ?? 0) > MAX_PROCESSES)
            stop('command_too_many_processes');
          if (context.protection.closedPlaces().some((path) => !isKnown(path))) {
            stop('protected_path');
          }
        }, LOOK_MS);
      });
    },
  });
  clearInterval(look);
  return { result, cause, started: (await program) !== undefined };
}
