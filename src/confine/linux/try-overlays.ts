import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runBounded } from '../../process/run-bounded.ts';
import { runCommand } from '../../process/run-command.ts';
import { findSystemProgram } from '../find-system-program.ts';
import { unavailable } from '../unavailable.ts';
import type { CommandView } from './command-view.ts';
import { type KeeperTools, withKeeper } from './keeper.ts';
import type { LinuxTools } from './linux-tools.ts';
import { mergedPath, writeOverlayStage } from './overlay-stage.ts';

/** Mounting takes milliseconds; what takes this long does not work. */
const TRIAL_MS = 10_000;
/** Hidden paths of each directory that a trial looks for. */
const MAX_TRIED = 20;

/** Prints nothing and ends well if none of the paths is there and the first directory can be written to. */
const LOOK = 'for path in "$@"; do [ ! -e "$path" ] || exit 9; done; echo x >"$0/.written"';

/** Whether overlays can be mounted over all directories of the view, and hide what they are to hide. */
export async function tryOverlays(
  tools: LinuxTools,
  keeperTools: KeeperTools,
  stage: string,
  view: CommandView,
  bounded: boolean,
): Promise<boolean> {
  try {
    writeOverlayStage(stage, view, await requireWhiteout(dirname(stage)));
    const hidden = view.directories.flatMap((directory, index) =>
      directory.hidden.slice(0, MAX_TRIED).map((path) => join(mergedPath(stage, index), path)),
    );
    const command = {
      file: tools.sh,
      args: ['-c', LOOK, mergedPath(stage, 0), ...hidden],
      cwd: '/',
      env: {},
    };
    const result = await runBounded(
      withKeeper(command, tools, keeperTools, bounded, {
        stage,
        count: view.directories.length,
      }),
      { timeoutMs: TRIAL_MS },
    );
    return result.exitCode === 0;
  } catch {
    return false;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** The one whiteout that others are links of: a character device 0/0, which any user may make. */
export async function requireWhiteout(directory: string): Promise<string> {
  const path = join(directory, 'whiteout');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (readdirSync(directory).includes('whiteout')) return path;
  const mknod = findSystemProgram('mknod');
  if (mknod === undefined) throw unavailable('mknod of coreutils is missing; install coreutils');
  await runCommand(
    { file: mknod, args: [path, 'c', '0', '0'], cwd: '/', env: {} },
    { timeoutMs: TRIAL_MS, maxBytes: 4096 },
  );
  if (readdirSync(directory).includes('whiteout')) return path;
  throw unavailable(`no whiteout could be made in ${directory}`);
}
