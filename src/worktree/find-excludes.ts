import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findSystemProgram } from '../confine/find-system-program.ts';
import { readGitConfig } from '../process/read-git-config.ts';

/**
 * The user's own list of files that Git ignores everywhere, such as editors' and the system's. It holds patterns and
 * nothing else, so it is the one setting of the user's that Git is left with here: without it a repository would count
 * as changed that is clean in the user's eyes.
 */
export async function findExcludes(home: string): Promise<string | undefined> {
  const git = findSystemProgram('git');
  const answer = await readGitConfig(git, join(home, '.gitconfig'), ['core.excludesFile']);
  const named = answer.replace(/\n$/, '').replace(/^~\//, `${home}/`);
  const path = answer === '' ? join(home, '.config/git/ignore') : named;
  return path.startsWith('/') && existsSync(path) ? path : undefined;
}
