import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Confinement } from '../../confine/confinement.ts';
import { findSystemProgram } from '../../confine/find-system-program.ts';
import type { PathProtection } from '../../confine/path-protection.ts';
import { realName } from '../../confine/real-name.ts';
import { makeNamedPipes } from '../../process/named-pipes.ts';
import { findSecrets } from './find-hidden.ts';
import { generateFiles } from './generated-files.ts';

export interface CommandSettings {
  /** Home directory of the person whose computer this is. */
  readonly home: string;
  readonly searchPath: string;
  readonly toolLocations: Readonly<Record<string, string>>;
  /** Private to this session; each run gets a directory in it. */
  readonly stageRoot: string;
  /** Where the Git data of a session's worktree is. */
  readonly furtherDirectories: readonly string[];
  readonly confinement: Promise<Confinement>;
}

/** What one run is prepared with. */
export interface RunStage {
  /** A directory that does not exist yet. */
  readonly directory: string;
  readonly outputPipes: readonly [string, string];
  /** Whether they could be made, once that is known. */
  readonly pipesMade: Promise<boolean>;
  /** Removes all of it. */
  discard(): void;
}

/** What the commands of one session have in common. */
export interface CommandRuntime extends CommandSettings {
  /** For one run. Its pipes are being made. */
  nextStage(): RunStage;
  /** Protected files in the home directory, by their names; looked for anew when that was long ago. */
  findHomeSecrets(): Promise<string[]>;
  generateFiles(): ReturnType<typeof generateFiles>;
}

/** How long a look through the home directory is good for, in milliseconds. The session's own directory is looked through every time. */
const HOME_LOOK_MS = 60_000;
/** Places of a home directory that only tools write to: certificates of libraries are no secrets. */
const LEFT_OUT = [
  '**/node_modules/**',
  '**/site-packages/**',
  '**/.cache/**',
  '**/go/pkg/**',
  '**/.rustup/**',
  '**/.cargo/registry/**',
  '**/.pyenv/versions/**',
  '**/.nvm/versions/**',
];

export function createCommandRuntime(
  given: CommandSettings,
  protection: PathProtection,
): CommandRuntime {
  // By their real names: what is hidden and where it is shown have to be spelled alike.
  const settings = {
    ...given,
    home: realName(given.home),
    stageRoot: realName(given.stageRoot),
  };
  // What an earlier runner was killed in the middle of.
  rmSync(settings.stageRoot, { recursive: true, force: true });
  mkdirSync(settings.stageRoot, { recursive: true, mode: 0o700 });
  const mkfifo = findSystemProgram('mkfifo');
  let runs = 0;
  let look: { readonly found: Promise<string[]>; readonly at: number } | undefined;
  let files: ReturnType<typeof generateFiles> | undefined;
  return {
    ...settings,
    nextStage() {
      runs += 1;
      const directory = join(settings.stageRoot, String(runs));
      const pipes = [`${directory}.stdout`, `${directory}.stderr`] as const;
      const pipesMade =
        mkfifo === undefined ? Promise.resolve(false) : makeNamedPipes(mkfifo, pipes);
      return {
        directory,
        outputPipes: pipes,
        pipesMade,
        discard() {
          for (const path of [directory, ...pipes]) rmSync(path, { recursive: true, force: true });
        },
      };
    },
    findHomeSecrets() {
      if (look === undefined || performance.now() - look.at > HOME_LOOK_MS) {
        look = {
          found: isDirectory(settings.home)
            ? findSecrets(settings.home, protection, LEFT_OUT)
            : Promise.resolve([]),
          at: performance.now(),
        };
      }
      return look.found;
    },
    generateFiles() {
      files ??= generateFiles(settings.home);
      return files;
    },
  };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
