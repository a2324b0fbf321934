import { existsSync } from 'node:fs';
import { runCommand } from './run-command.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024;

/**
 * Asks `git config` about one configuration file of a user's, without what it includes. Nothing of it is run. `git` is
 * its absolute path; undefined, like a file that is missing or has no such setting, gives an empty answer.
 */
export async function readGitConfig(
  git: string | undefined,
  file: string,
  question: readonly string[],
): Promise<string> {
  if (git === undefined || !existsSync(file)) return '';
  const { exitCode, stdout } = await runCommand(
    {
      file: git,
      args: ['config', '--file', file, '--no-includes', ...question],
      cwd: '/',
      env: { HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
    },
    { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES },
  );
  return exitCode === 0 ? stdout.toString('utf8') : '';
}
