import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findSystemProgram } from '../confine/find-system-program.ts';
import { runCommand } from '../process/run-command.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4_096;

/**
 * The user's own list of files that Git ignores everywhere, such as editors' and the system's. It holds patterns and
 * nothing else, so it is the one setting of the user's that Git is left with here: without it a repository would count
 * as changed that is clean in the user's eyes.
 */
export async function findExcludes(home: string): Promise<string | undefined> {
  const named = await readSetting(join(home, '.gitconfig'));
  const path = named?.replace(/^~\//, `${home}/`) ?? join(home, '.config/git/ignore');
  return path.startsWith('/') && existsSync(path) ? path : undefined;
}

async function readSetting(file: string): Promise<string | undefined> {
  const git = findSystemProgram('git');
  if (git === undefined || !existsSync(file)) return undefined;
  const { exitCode, stdout } = await runCommand(
    {
      file: git,
      args: ['config', '--file', file, '--no-includes', 'core.excludesFile'],
      cwd: '/',
      env: { HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
    },
    { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES },
  );
  return exitCode === 0 ? stdout.toString('utf8').replace(/\n$/, '') : undefined;
}
