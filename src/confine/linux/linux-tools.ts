import { runCommand } from '../../process/run-command.ts';
import { findSystemProgram, SYSTEM_DIRECTORIES } from '../find-system-program.ts';
import { unavailable } from '../unavailable.ts';
import type { Architecture } from './syscall-numbers.ts';

/** Programs that confinement is made with, each by its absolute path: no search path of anybody's is asked. */
export interface LinuxTools {
  readonly bwrap: string;
  readonly sh: string;
  /** From 0.8.0 on bwrap itself closes user namespaces and bounds its file systems; the filter closes them anyway. */
  readonly bwrapVersion: readonly [number, number, number];
  readonly architecture: Architecture;
}

/** The first release with every option that is used without asking for the version. */
const MIN_BWRAP = [0, 5, 0];
const VERSION_TIMEOUT_MS = 5_000;

/** Throws `confinement_unavailable` with what to install. */
export async function findLinuxTools(): Promise<LinuxTools> {
  const architecture = requireArchitecture();
  const bwrap = requireProgram('bwrap', 'bubblewrap');
  const result = await runCommand(
    { file: bwrap, args: ['--version'], cwd: '/', env: {} },
    { timeoutMs: VERSION_TIMEOUT_MS, maxBytes: 4096 },
  );
  const match = /(\d+)\.(\d+)\.(\d+)/.exec(result.stdout.toString('latin1'));
  const version = [Number(match?.[1]), Number(match?.[2]), Number(match?.[3])] as const;
  if (match === null || !isAtLeast(version, MIN_BWRAP)) {
    throw unavailable(
      `${bwrap} is not bubblewrap ${MIN_BWRAP.join('.')} or newer; update it with your distribution's package manager`,
    );
  }
  return { bwrap, bwrapVersion: version, sh: requireProgram('sh', 'a POSIX shell'), architecture };
}

export function isAtLeast(version: readonly number[], wanted: readonly number[]): boolean {
  const at = wanted.findIndex((part, index) => version[index] !== part);
  return at < 0 || (version[at] ?? 0) > (wanted[at] ?? 0);
}

function requireProgram(name: string, kind: string): string {
  const path = findSystemProgram(name);
  if (path !== undefined) return path;
  throw unavailable(
    `${kind} is not installed (${name} is in none of ${SYSTEM_DIRECTORIES.join(', ')}); on Debian and Ubuntu type "sudo apt-get install -y ${name === 'bwrap' ? 'bubblewrap' : name}"`,
  );
}

function requireArchitecture(): Architecture {
  if (process.arch === 'x64' || process.arch === 'arm64') return process.arch;
  throw unavailable(`this is a ${process.arch} machine, for which there is no system call filter`);
}
