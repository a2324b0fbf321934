import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { ReinsError } from '../../base/reins-error.ts';
import type { StateDirectory } from '../../base/state-directory.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import type { Confinement } from '../../confine/confinement.ts';
import { createPathProtection } from '../../confine/path-protection.ts';
import { createCommandRuntime } from '../../tools/command/command-runtime.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { Environment } from '../environment.ts';

/** A place in the home directory, or beside the state directory where there is none, to try things in: a project, a secret, a socket and a port that are known to be there. */
export interface DoctorLab {
  readonly root: string;
  readonly project: string;
  readonly secret: string;
  readonly socket: string;
  readonly port: number;
  readonly context: ToolContext;
  dispose(): void;
}

export async function createDoctorLab(
  environment: Environment,
  state: StateDirectory,
  confinement: Confinement,
  /** Told of the removal of what has been made so far, as soon as there is something. */
  onMade: (remove: () => void) => void,
): Promise<DoctorLab> {
  const root = realpathSync(makeRoot([environment.userHome, dirname(state.root)]));
  const home = dirname(root);
  const stageRoot = join(state.root, 'doctor');
  const remove = (): void => {
    for (const path of [root, stageRoot]) rmSync(path, { recursive: true, force: true });
  };
  onMade(remove);
  const [project, closed] = [join(root, 'project'), join(root, 'closed')];
  for (const directory of [project, closed]) mkdirSync(directory);
  const secret = join(closed, 'secret');
  writeFileSync(secret, 'secret');
  const socket = join(root, 's');
  const tcp = createServer((peer) => peer.destroy());
  const unix = createServer((peer) => peer.destroy());
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => unix.listen(socket, resolve));
  const address = tcp.address();
  const protection = createPathProtection(home, state.root, process.platform, {
    closed: [...environment.protection.closed, closed],
    opened: environment.protection.opened,
  });
  const settings = {
    home,
    searchPath: environment.searchPath,
    toolLocations: environment.toolLocations,
    stageRoot,
    furtherDirectories: [],
    confinement: Promise.resolve(confinement),
  };
  return {
    root,
    project,
    secret,
    socket,
    port: typeof address === 'object' && address !== null ? address.port : 0,
    context: {
      workingDirectory: project,
      writeRoot: project,
      protection,
      commands: createCommandRuntime(settings, protection),
      subagents: null,
      lastSeen: () => undefined,
    },
    dispose() {
      tcp.close();
      unix.close();
      remove();
    },
  };
}

/** Throws when nothing can be made in any of the places. */
function makeRoot(places: readonly string[]): string {
  const [place, ...others] = places;
  if (place === undefined) throw new Error('there is no place to try things in');
  try {
    return mkdtempSync(join(place, '.reins-doctor-'));
  } catch (error) {
    if (others.length === 0) {
      throw new ReinsError(
        'confinement_unavailable',
        `Nothing could be tried, since no directory can be made in ${place} (${systemErrorCode(error) ?? 'unknown reason'}) or in the home directory; set HOME or REINS_STATE_DIR to a place that can be written.`,
        { cause: error },
      );
    }
    return makeRoot(others);
  }
}
