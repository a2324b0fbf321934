import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeText } from '../base/escape-text.ts';
import { type Git, refused } from './git.ts';

/** What a worktree is taken from. */
export interface WorktreeSource {
  readonly topLevel: string;
  readonly commonDirectory: string;
  readonly head: string;
  /** The branch that is checked out; null when the source is on none. */
  readonly branch: string | null;
}

/** Files and bytes of a checkout that a session still makes a copy of. */
const MAX_FILES = 200_000;
const MAX_BYTES = 4 * 1024 * 1024 * 1024;
const MAX_LISTED = 5;
/** As much of a file name as a refusal shows. */
const MAX_NAME = 200;

/** Traces of work that Git has begun in a repository and not ended. */
const UNFINISHED: readonly [string, string][] = [
  ['MERGE_HEAD', 'a merge is under way'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick is under way'],
  ['REVERT_HEAD', 'a revert is under way'],
  ['BISECT_LOG', 'a bisect is under way'],
  ['rebase-merge', 'a rebase is under way'],
  ['rebase-apply', 'a rebase or "git am" is under way'],
  ['index.lock', 'another Git process works in it (index.lock is there)'],
];

/** Looks at `directory` (absolute, real) without changing anything. Throws `worktree_refused` with the reason. */
export async function inspectSource(git: Git, directory: string): Promise<WorktreeSource> {
  const commonDirectory = requireGitDirectory(directory);
  const places = { cwd: directory, readable: [directory], writable: [] };
  const ask = async (...args: string[]): Promise<string | undefined> => {
    const answer = await git.run(args, places);
    return answer.ok ? answer.stdout : undefined;
  };
  const top = (await ask('rev-parse', '--show-toplevel'))?.replace(/\n$/, '');
  if (top !== directory) {
    throw refused(
      `Git takes ${top ?? 'no directory'} for the top level of ${directory}; name the top level of an ordinary repository`,
    );
  }
  const head = (await ask('rev-parse', '--verify', '--quiet', 'HEAD^{commit}'))?.trim();
  if (head === undefined || head === '') {
    throw refused(`${directory} has no commits, or lacks the objects of its HEAD; commit first`);
  }
  const unfinished = UNFINISHED.find(([name]) => existsSync(join(commonDirectory, name)));
  if (unfinished !== undefined)
    throw refused(`${unfinished[1]} in ${directory}; finish that first`);
  await requirePlainKind(ask, directory);
  await requirePlainTree(ask, directory);
  await requireClean(git, directory);
  const branch = (await ask('symbolic-ref', '--quiet', '--short', 'HEAD'))?.trim();
  return { topLevel: directory, commonDirectory, head, branch: branch || null };
}

/** Names of the filter drivers that the repository's own configuration defines. */
export async function listFilters(
  git: Git,
  places: { readonly cwd: string; readonly readable: readonly string[] },
): Promise<string[]> {
  const answer = await git.run(
    [
      'config',
      '-z',
      '--includes',
      '--name-only',
      '--get-regexp',
      '^filter\\..*\\.(clean|smudge|process|required)$',
    ],
    { ...places, writable: [] },
  );
  // 1 is how it says that there are none. Anything else is not knowing, and then nothing may run.
  if (answer.exitCode !== 0 && answer.exitCode !== 1) {
    throw refused(`the configuration of ${places.cwd} cannot be read; look at "git config --list"`);
  }
  const names = answer.stdout
    .split('\0')
    .filter(Boolean)
    .map((key) => key.slice('filter.'.length, key.lastIndexOf('.')));
  const odd = names.find(
    (name) => name.includes('=') || name.includes('\n') || name.includes('\ufffd'),
  );
  if (odd !== undefined) {
    throw refused(
      'its configuration has a filter with a name that cannot be switched off; remove it',
    );
  }
  return [...new Set(names)];
}

function requireGitDirectory(directory: string): string {
  const path = join(directory, '.git');
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return path;
  if (stat?.isFile()) {
    const text = readFileSync(path, 'utf8').slice(0, 4096);
    const kind = text.includes('/modules/') ? 'a submodule' : 'a linked worktree';
    throw refused(`${directory} is ${kind} of another repository; name the top level of that one`);
  }
  if (stat !== undefined)
    throw refused(`${path} is a link; name a repository with its own .git directory`);
  if (existsSync(join(directory, 'HEAD')) && existsSync(join(directory, 'objects'))) {
    throw refused(`${directory} is a bare repository, which has no files; name a checkout of it`);
  }
  throw refused(
    `${directory} is not the top level of a Git repository; name the top level, or use direct_write, which needs no Git`,
  );
}

type Ask = (...args: string[]) => Promise<string | undefined>;

async function requirePlainKind(ask: Ask, directory: string): Promise<void> {
  const settings = (await ask('config', '--includes', '--list', '-z')) ?? '';
  const has = (pattern: RegExp): boolean =>
    settings.split('\0').some((setting) => pattern.test(setting));
  if (has(/^core\.sparsecheckout\ntrue$/i) || has(/^index\.sparse\ntrue$/i)) {
    throw refused(`${directory} is a sparse checkout; type "git sparse-checkout disable" first`);
  }
  if (has(/^extensions\.partialclone\n/i)) {
    throw refused(`${directory} is a partial clone and may lack objects; fetch all of them first`);
  }
  if (existsSync(join(directory, '.git/objects/info/alternates'))) {
    throw refused(
      `${directory} borrows objects from another repository; type "git repack -a -d" and remove .git/objects/info/alternates first`,
    );
  }
  if (has(/^core\.worktree\n/i)) {
    throw refused(`${directory} has core.worktree set, which puts its files elsewhere; unset it`);
  }
}

async function requirePlainTree(ask: Ask, directory: string): Promise<void> {
  const tree = (await ask('ls-tree', '-r', '-l', '-z', '--full-tree', 'HEAD'))?.split('\0');
  if (tree === undefined)
    throw refused(`the files of ${directory} cannot be listed; look at "git fsck"`);
  const entries = tree.filter(Boolean).map((entry) => entry.split('\t')[0]?.split(/\s+/) ?? []);
  if (entries.some(([mode]) => mode === '160000')) {
    throw refused(
      `${directory} has submodules, which a worktree does not bring along; use direct_write`,
    );
  }
  const bytes = entries.reduce((sum, [, , , size]) => sum + (Number(size) || 0), 0);
  if (entries.length > MAX_FILES || bytes > MAX_BYTES) {
    throw refused(
      `${directory} has ${entries.length} files of ${Math.ceil(bytes / 1e6)} MB in all, and the limits are ${MAX_FILES} and ${Math.ceil(MAX_BYTES / 1e6)} MB; use direct_write`,
    );
  }
}

async function requireClean(git: Git, directory: string): Promise<void> {
  const places = { cwd: directory, readable: [directory], writable: [] };
  const filters = await listFilters(git, places);
  const status = await git.run(
    [
      'status',
      '--porcelain=v1',
      '-z',
      '--untracked-files=all',
      '--ignore-submodules=none',
      '--no-renames',
    ],
    { ...places, filters },
  );
  if (!status.ok) throw refused(`the state of ${directory} cannot be told; look at "git status"`);
  const changed = status.stdout.split('\0').filter(Boolean);
  if (changed.length === 0) return;
  const listed = changed
    .slice(0, MAX_LISTED)
    .map((line) => escapeText(line.slice(3)).slice(0, MAX_NAME));
  const more = changed.length > MAX_LISTED ? ` and ${changed.length - MAX_LISTED} more` : '';
  throw refused(
    `${directory} has changes that are not committed (${listed.join(', ')}${more}); commit or stash them, or use direct_write`,
  );
}
