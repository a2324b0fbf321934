import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Git as a user would run it, with an environment built from nothing. */
export function git(directory: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
    cwd: directory,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', HOME: dirname(directory), GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Makes `directory` a repository on the branch main, with these files committed. */
export function makeRepository(directory: string, files: Readonly<Record<string, string>>): void {
  git(directory, 'init', '-q', '-b', 'main');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  git(directory, 'add', '-A');
  git(directory, 'commit', '-q', '--allow-empty', '-m', 'first');
}

/** Kind, mode, content and modification time of everything below, but for Git's record of its worktrees. */
export function fingerprint(directory: string): string {
  const hash = createHash('sha256');
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/^\.git\/worktrees(\/|$)/.test(relative(directory, path)))
    .sort();
  for (const path of entries) {
    const stat = lstatSync(path);
    // A directory that got an entry has another time; everything else keeps its own.
    const time = stat.isDirectory() ? '' : stat.mtimeMs;
    const content = stat.isFile()
      ? readFileSync(path)
      : stat.isSymbolicLink()
        ? readlinkSync(path)
        : '';
    hash.update(`${relative(directory, path)}\0${stat.mode}\0${time}\0`).update(content);
  }
  return hash.digest('hex');
}
