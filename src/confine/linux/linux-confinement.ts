import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CommandRequest } from '../command-request.ts';
import { MAX_PROCESSES, PRIVATE_DIRECTORIES } from '../command-request.ts';
import type { ConfinedRun, Confinement, ToolRequest } from '../confinement.ts';
import { findSystemProgram } from '../find-system-program.ts';
import { type Mount, readOnly, type Sandbox, toBubblewrapCommand } from './bubblewrap.ts';
import { CLAUDE_INSIDE, toClaudeSandbox } from './claude-sandbox.ts';
import { type CommandView, depthOf, planCommandView } from './command-view.ts';
import { readFileSystemFacts } from './file-system-facts.ts';
import {
  boundsProcesses,
  findKeeperTools,
  type KeeperTools,
  MAX_WRITTEN_BYTES,
  withKeeper,
} from './keeper.ts';
import { findLinuxTools, type LinuxTools } from './linux-tools.ts';
import { mergedPath, writeOverlayStage } from './overlay-stage.ts';
import { rootMounts, toReadOnlyMounts } from './read-only-view.ts';
import { requireSandbox } from './require-sandbox.ts';
import { readSandboxReport } from './sandbox-report.ts';
import { systemMounts } from './system-mounts.ts';
import { requireWhiteout, tryOverlays } from './try-overlays.ts';

/** What a kernel has beyond what is needed. */
export interface LinuxFeatures {
  /** Whether to mount overlays where that works. */
  readonly overlays: boolean;
  /** Whether a process namespace has a limit of its own. */
  readonly boundsProcesses: boolean;
}

/** Confinement by bubblewrap, tried once before it is promised. Throws `confinement_unavailable`. */
export async function createLinuxConfinement(
  features: LinuxFeatures = { overlays: true, boundsProcesses: boundsProcesses() },
): Promise<Confinement> {
  const tools = await findLinuxTools();
  await requireSandbox(tools);
  const keeperTools = findKeeperTools();
  // By the directories that are shown changed: some file systems take no overlay.
  const trials = new Map<string, Promise<boolean>>();
  return {
    boundary:
      'Claude Code runs in namespaces of its own (bubblewrap): no network and no port of this computer, no file but its own and the system programs; one socket leads to its model, two pipes to its tools. Commands have no network and no unix socket, and their writes are thrown away.',
    claudePlaces: () => CLAUDE_INSIDE,
    confineClaude: (outside, program) => ({
      command: toBubblewrapCommand(tools, toClaudeSandbox(outside, program)),
      findProgram: readSandboxReport,
    }),
    confineTool: (request) => toBubblewrapCommand(tools, toToolSandbox(request)),
    async confineCommand(request) {
      const view = planCommandView(
        {
          roots: [
            request.home,
            request.sessionDirectory,
            request.cwd,
            ...request.furtherDirectories,
          ],
          hidden: request.hidden,
        },
        readFileSystemFacts(),
      );
      if (features.overlays && keeperTools !== undefined && view.directories.length > 0) {
        const key = view.directories.map(({ root }) => root).join('\0');
        const trial =
          trials.get(key) ??
          tryOverlays(tools, keeperTools, `${request.stage}-trial`, view, features.boundsProcesses);
        trials.set(key, trial);
        // What failed once is tried again: a busy computer is no reason to be without from then on.
        if (!(await trial)) trials.delete(key);
        else
          return confineWithOverlays(tools, keeperTools, request, view, features.boundsProcesses);
      }
      return confineReadOnly(tools, keeperTools, request, view, features.boundsProcesses);
    },
  };
}

function toToolSandbox(request: ToolRequest): Sandbox {
  const directories = [
    ...request.readable.map(readOnly),
    ...request.writable.map((path): Mount => ({ kind: 'writable', source: path, target: path })),
  ];
  return {
    mounts: [
      ...systemMounts(),
      { kind: 'empty', target: '/tmp', maxBytes: MAX_WRITTEN_BYTES },
      ...directories.sort(byDepth),
      { kind: 'seal', target: '/' },
    ],
    seccomp: { unixSockets: false },
    cwd: request.cwd,
    env: request.env,
    argv: request.argv,
    firstProcess: false,
  };
}

async function confineWithOverlays(
  tools: LinuxTools,
  keeperTools: KeeperTools,
  request: CommandRequest,
  view: CommandView,
  bounded: boolean,
): Promise<ConfinedRun> {
  writeOverlayStage(request.stage, view, await requireWhiteout(dirname(request.stage)));
  const overlays = view.directories.map(
    ({ root }, index): Mount => ({
      kind: 'writable',
      source: mergedPath(request.stage, index),
      target: root,
    }),
  );
  const command = toBubblewrapCommand(
    tools,
    toSandbox(request, view, [...overlays, ...view.passedThrough.map(readOnly)]),
  );
  return {
    command: withKeeper(command, tools, keeperTools, bounded, {
      stage: request.stage,
      count: view.directories.length,
    }),
    writes: 'throw_away',
    findProgram: readSandboxReport,
    countProcesses,
  };
}

function confineReadOnly(
  tools: LinuxTools,
  keeperTools: KeeperTools | undefined,
  request: CommandRequest,
  view: CommandView,
  bounded: boolean,
): ConfinedRun {
  const command = toBubblewrapCommand(tools, toSandbox(request, view, toReadOnlyMounts(view)));
  return {
    command:
      keeperTools === undefined
        ? command
        : withKeeper(command, tools, keeperTools, bounded, undefined),
    writes: 'read_only',
    findProgram: readSandboxReport,
    countProcesses,
  };
}

function toSandbox(request: CommandRequest, view: CommandView, mounts: readonly Mount[]): Sandbox {
  const own = PRIVATE_DIRECTORIES.map(
    (target): Mount => ({ kind: 'empty', target, maxBytes: MAX_WRITTEN_BYTES }),
  );
  const seals = mounts.filter(({ kind }) => kind === 'seal');
  const layers = [...own, ...mounts.filter(({ kind }) => kind !== 'seal')];
  return {
    mounts: [
      ...rootMounts(view.hiddenInRoot),
      { kind: 'devices', target: '/dev' },
      { kind: 'proc', target: '/proc' },
      // What is inside of another comes after it, and at the same place the order given stands.
      ...layers.sort(byDepth),
      ...request.files.map(({ path, text }): Mount => ({ kind: 'text', text, target: path })),
      ...seals,
    ],
    seccomp: { unixSockets: false },
    cwd: request.cwd,
    env: request.env,
    argv: [...withinLimits(), ...request.argv],
    firstProcess: false,
  };
}

/**
 * No core dumps, and a bound on processes that holds for everybody but root. It is set inside, where the processes of
 * the run are the only ones that it counts.
 */
function withinLimits(): string[] {
  const prlimit = findSystemProgram('prlimit');
  return prlimit === undefined ? [] : [prlimit, '--core=0', `--nproc=${MAX_PROCESSES}`, '--'];
}

/** The processes of a run: its keeper's child has a /proc that shows them alone. */
function countProcesses(keeper: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${keeper}/task/${keeper}/children`, 'latin1').split(' ');
    return readdirSync(`/proc/${first}/root/proc`).filter((name) => /^\d+$/.test(name)).length;
  } catch {
    return undefined;
  }
}

function byDepth(a: Mount, b: Mount): number {
  return depthOf(a.target) - depthOf(b.target);
}
