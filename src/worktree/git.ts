import { ReinsError } from '../base/reins-error.ts';
import type { Confinement } from '../confine/confinement.ts';
import { findSystemProgram } from '../confine/find-system-program.ts';
import { runCommand } from '../process/run-command.ts';

/** Most of what is asked takes milliseconds; writing a large tree takes longer. */
const TIMEOUT_MS = 120_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Git on a repository that nobody vouches for: it may see and write what is named, and runs none of its code. */
export interface Git {
  run(args: readonly string[], places: GitPlaces): Promise<GitAnswer>;
}

export interface GitPlaces {
  readonly cwd: string;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** Filter drivers to switch off, by name. */
  readonly filters?: readonly string[];
}

export interface GitAnswer {
  readonly ok: boolean;
  /** Null when it did not come to an end of its own. */
  readonly exitCode: number | null;
  readonly stdout: string;
}

/**
 * Switched off one by one: hooks, the file system monitor, every helper that a setting could name, fetching, and
 * housekeeping. Behind that stands the sandbox, in which such code would find neither secrets nor a way out.
 */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.pager=cat',
  'core.editor=false',
  'core.sshCommand=false',
  'core.askPass=false',
  'core.attributesFile=/dev/null',
  'diff.external=',
  'protocol.allow=never',
  'submodule.recurse=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'safe.directory=*',
  'safe.bareRepository=explicit',
  'advice.detachedHead=false',
];

const ENVIRONMENT = {
  PATH: '/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_CEILING_DIRECTORIES: '/',
};

/** `excludes` is a file with what Git is to ignore everywhere. Throws `worktree_refused` when Git is not installed. */
export function createGit(confinement: Confinement, excludes?: string): Git {
  const git = findSystemProgram('git');
  if (git === undefined) throw refused('Git is not installed; install it or use direct_write');
  return {
    async run(args, places) {
      const filters = (places.filters ?? []).flatMap((name) =>
        ['clean', 'smudge', 'process'].map((part) => `filter.${name}.${part}=`),
      );
      const required = (places.filters ?? []).map((name) => `filter.${name}.required=false`);
      const ignored = `core.excludesFile=${excludes ?? '/dev/null'}`;
      const settings = [...SETTINGS, ignored, ...filters, ...required].flatMap((each) => [
        '-c',
        each,
      ]);
      const command = confinement.confineTool({
        argv: [git, ...settings, ...args],
        cwd: places.cwd,
        env: ENVIRONMENT,
        readable: [...places.readable, ...(excludes === undefined ? [] : [excludes])],
        writable: places.writable,
      });
      const result = await runCommand(command, {
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_OUTPUT_BYTES,
      });
      return {
        ok: result.ended === 'exit' && result.exitCode === 0,
        exitCode: result.ended === 'exit' ? result.exitCode : null,
        stdout: result.stdout.toString('utf8'),
      };
    },
  };
}

export function refused(reason: string): ReinsError {
  return new ReinsError('worktree_refused', `worktree_write is not possible here: ${reason}.`);
}
