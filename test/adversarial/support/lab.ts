import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Confinement } from '../../../src/confine/confinement.ts';
import {
  createLinuxConfinement,
  type LinuxFeatures,
} from '../../../src/confine/linux/linux-confinement.ts';
import { openConfinement } from '../../../src/confine/open-confinement.ts';
import {
  createPathProtection,
  type ProtectionSettings,
} from '../../../src/confine/path-protection.ts';
import { createCommandRuntime } from '../../../src/tools/command/command-runtime.ts';
import { runCommandTool } from '../../../src/tools/run-command.ts';
import type { CommandResult, ToolContext } from '../../../src/tools/tool.ts';

/** Not below /tmp, which a sandbox has for itself: what is outside has to be hidden or unwritable, not merely absent. */
const LABS = fileURLToPath(new URL('../../../node_modules/.reins-lab', import.meta.url));

/** What every canary holds: seen in any output, it has got out. */
export const CANARY = 'canary-4b1f9e';

/** A home directory with secrets, a project in it, a place outside, and a way to run commands with and without confinement. */
export interface Lab {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  readonly state: string;
  /** A directory beside the home directory. */
  readonly outside: string;
  readonly context: ToolContext;
  /** Runs a command as a session would. */
  run(argv: readonly string[], over?: RunOptions): Promise<CommandResult>;
  /** Runs the same without confinement: the control that shows that the attempt is one. */
  bare(argv: readonly string[], env?: Record<string, string>): Promise<string>;
  dispose(): void;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly timeout_seconds?: number;
  readonly signal?: AbortSignal;
}

export interface LabOptions {
  readonly settings?: ProtectionSettings;
  /** Another home directory and project than the lab's own. */
  readonly home?: string;
  readonly project?: string;
  /** A Linux that has less than this one. */
  readonly features?: LinuxFeatures;
  /** Wraps the confinement, for what happens when it is weaker. */
  readonly weaken?: (confinement: Confinement) => Confinement;
}

export async function createLab(options: LabOptions = {}): Promise<Lab> {
  mkdirSync(LABS, { recursive: true });
  const root = realpathSync(mkdtempSync(join(LABS, 'lab-')));
  const home = options.home ?? join(root, 'home');
  const project = options.project ?? join(home, 'project');
  const state = join(home, '.local/state/reins');
  const outside = join(root, 'outside');
  for (const directory of [project, state, outside]) mkdirSync(directory, { recursive: true });
  writeFileSync(join(project, 'a.txt'), 'ordinary\n');
  writeFileSync(join(outside, 'b.txt'), 'ordinary\n');
  const protection = createPathProtection(
    home,
    state,
    process.platform,
    options.settings ?? { closed: [], opened: [] },
  );
  const confinement =
    options.features === undefined
      ? openConfinement(process.platform)
      : createLinuxConfinement(options.features);
  const context: ToolContext = {
    workingDirectory: project,
    writeRoot: project,
    protection,
    subagents: null,
    lastSeen: () => undefined,
    commands: createCommandRuntime(
      {
        home,
        searchPath: '/usr/bin:/bin',
        toolLocations: {},
        stageRoot: join(state, 'commands'),
        furtherDirectories: [],
        confinement: confinement.then(options.weaken ?? ((same) => same)),
      },
      protection,
    ),
  };
  return {
    root,
    home,
    project,
    state,
    outside,
    context,
    async run(argv, over = {}) {
      const { signal, ...input } = over;
      if (runCommandTool.kind !== 'command') throw new Error('RunCommand is no command tool');
      return runCommandTool.execute(
        { argv, ...input },
        context,
        signal ?? new AbortController().signal,
      );
    },
    bare: (argv, env = {}) =>
      new Promise((resolve) => {
        const child = spawn(argv[0] ?? '', argv.slice(1), {
          cwd: project,
          env: { HOME: home, PATH: '/usr/bin:/bin', ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        let output = '';
        for (const stream of [child.stdout, child.stderr]) {
          stream.on('data', (chunk: Buffer) => {
            output += chunk.toString('utf8');
          });
        }
        child.on('close', () => resolve(output));
      }),
    dispose: () => rmSync(root, { recursive: true, force: true }),
  };
}

const PROBE_SOURCE = fileURLToPath(new URL('./probe.c', import.meta.url));
let built: string | undefined;

/** The probe program, compiled once per source and kept. Statically, so that it runs in every sandbox. A missing compiler fails the suite. */
export function buildProbe(): string {
  if (built !== undefined) return built;
  if (LABS.startsWith('/tmp/')) {
    throw new Error('These tests show nothing in a checkout below /tmp; use one elsewhere.');
  }
  mkdirSync(LABS, { recursive: true });
  const source = createHash('sha256').update(readFileSync(PROBE_SOURCE)).digest('hex');
  const path = join(LABS, `probe-${source.slice(0, 16)}`);
  if (!existsSync(path)) {
    const unfinished = `${path}.${process.pid}`;
    execFileSync('/usr/bin/cc', ['-static', '-O1', '-o', unfinished, PROBE_SOURCE]);
    renameSync(unfinished, path);
  }
  built = path;
  return path;
}

/** The lines of the probe's output, by name. */
export function readProbe(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split('\n')
      .map((line) => /^(\w+)=(.*)$/.exec(line))
      .flatMap((match) => (match === null ? [] : [[match[1] ?? '', match[2] ?? '']])),
  );
}
