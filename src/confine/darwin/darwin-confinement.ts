import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runBounded } from '../../process/run-bounded.ts';
import type { Command } from '../../process/spawn-owned.ts';
import type { Confinement } from '../confinement.ts';
import { unavailable } from '../unavailable.ts';
import { toClaudeProfile, toCommandProfile, toToolProfile } from './seatbelt-profile.ts';

const SANDBOX_EXEC = '/usr/bin/sandbox-exec';
const TRIAL_MS = 10_000;

/** Confinement by Seatbelt, tried once before it is promised. Throws `confinement_unavailable`. */
export async function createDarwinConfinement(): Promise<Confinement> {
  try {
    accessSync(SANDBOX_EXEC, constants.X_OK);
  } catch {
    throw unavailable(`${SANDBOX_EXEC} is missing, which belongs to macOS; restore it`);
  }
  const trial = await runBounded(
    confine(toCommandProfile({ hidden: [], hiddenNames: [] }, '/private/var/empty'), {
      argv: ['/usr/bin/true'],
      cwd: '/',
      env: {},
    }),
    { timeoutMs: TRIAL_MS },
  );
  if (trial.exitCode !== 0) {
    throw unavailable(
      `sandbox-exec does not start a program here (exit code ${trial.exitCode}); inside of another sandbox it cannot`,
    );
  }
  return {
    boundary:
      'Claude Code runs under Seatbelt: no network and no port of this computer, no file but its own and the system libraries; one socket leads to its model, two pipes to its tools. Commands have no network, no unix socket and no system service, and write into a scratch directory alone.',
    claudePlaces: (outside) => outside,
    confineClaude: (outside, program) => ({
      command: confine(toClaudeProfile(outside), {
        argv: [outside.executable, ...program.args],
        cwd: outside.runtimeDirectory,
        env: program.env,
      }),
      findProgram: async (child) => child.pid,
    }),
    confineTool: (request) => confine(toToolProfile(request), request),
    async confineCommand(request) {
      const scratch = join(request.stage, 'tmp');
      mkdirSync(scratch, { recursive: true, mode: 0o700 });
      const generated = request.files.map(({ path, text }, index) => {
        const file = join(scratch, String(index));
        writeFileSync(file, text, { mode: 0o600 });
        return { path, file };
      });
      const place = (value: string): string =>
        generated.find(({ path }) => path === value)?.file ?? value;
      const env = Object.fromEntries(
        Object.entries({ ...request.env, TMPDIR: scratch }).map(([name, value]) => [
          name,
          place(value),
        ]),
      );
      return {
        command: confine(toCommandProfile(request, scratch), {
          argv: request.argv,
          cwd: request.cwd,
          env,
        }),
        writes: 'read_only',
        findProgram: async (child) => child.pid,
        countProcesses: () => undefined,
      };
    },
  };
}

function confine(
  profile: string,
  program: {
    readonly argv: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
  },
): Command {
  return {
    file: SANDBOX_EXEC,
    args: ['-p', profile, ...program.argv],
    cwd: program.cwd,
    env: program.env,
  };
}
