import { execFile } from 'node:child_process';
import { REINS_BIN } from './gateway.ts';
import type { TestHome } from './test-home.ts';

export interface CommandOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the command line to its end, with the environment of a test home. */
export function runReins(home: TestHome, ...args: readonly string[]): Promise<CommandOutcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [REINS_BIN, ...args],
      { env: home.env, encoding: 'utf8' },
      (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ exitCode, stdout, stderr });
      },
    );
  });
}
