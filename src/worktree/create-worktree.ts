import { lstatSync, mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Git, refused } from './git.ts';
import { listFilters, type WorktreeSource } from './inspect-source.ts';

/** Commits that a refusal lists. */
const MAX_COMMITS = 10;
/** Of registering a worktree, while others come and go. */
const MAX_ATTEMPTS = 5;

/** A worktree by its place and what it was taken from. */
export interface PlannedWorktree extends WorktreeSource {
  /** Absolute; the last part is unique among all worktrees of Reins, and Git's own name for it. */
  readonly path: string;
}

/**
 * Makes the worktree, on no branch, at the commit that was planned. Whatever an earlier attempt has left is removed
 * first, so that it can be repeated after a crash at any point. In the source only `.git/worktrees/NAME` comes to be.
 */
export async function createWorktree(git: Git, planned: PlannedWorktree): Promise<void> {
  const { path, topLevel, commonDirectory, head } = planned;
  const administration = join(commonDirectory, 'worktrees');
  if (!isDirectory(commonDirectory)) {
    throw refused(`the repository ${topLevel} is gone`);
  }
  removeRemains(planned);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  try {
    await addWorktree(git, planned, administration);
    const own = join(administration, basename(path));
    const inside = { cwd: path, readable: [topLevel], writable: [own, path] };
    // Asked where the files are written: settings can hold for a worktree and not for the source.
    const filters = await listFilters(git, { cwd: path, readable: [topLevel, path] });
    const read = await git.run(['read-tree', head], { ...inside, filters });
    const wrote =
      read.ok &&
      (
        await git.run(['checkout-index', '--all', '--force', '--quiet', '-u'], {
          ...inside,
          filters,
        })
      ).ok;
    if (!wrote) {
      throw refused(
        `the files of ${head.slice(0, 12)} could not be written; look at the disk, and at "git fsck" in ${topLevel}`,
      );
    }
    requireBinding(planned);
  } catch (error) {
    removeRemains(planned);
    throw error;
  }
}

/** Registers the worktree, which is all that is written into the source. */
async function addWorktree(
  git: Git,
  planned: PlannedWorktree,
  administration: string,
): Promise<void> {
  const { path, topLevel, head } = planned;
  for (let attempt = 1; ; attempt += 1) {
    mkdirSync(administration, { recursive: true });
    const readable = [topLevel];
    const writable = [administration, path];
    const filters = await listFilters(git, { cwd: topLevel, readable });
    const added = await git.run(
      ['worktree', 'add', '--quiet', '--detach', '--no-checkout', '--lock', '--', path, head],
      { cwd: topLevel, readable, writable, filters },
    );
    if (added.ok) return;
    // Whoever removed the last other worktree meanwhile has removed the directory as well.
    if (attempt === MAX_ATTEMPTS) {
      throw refused(`"git worktree add" failed in ${topLevel}; look at "git fsck"`);
    }
  }
}

/** Throws `worktree_refused` unless the worktree is there and still belongs to the source's repository. */
export function requireBinding(planned: PlannedWorktree): void {
  const name = basename(planned.path);
  const own = join(planned.commonDirectory, 'worktrees', name);
  const isBound =
    readLine(join(planned.path, '.git')) === `gitdir: ${own}` &&
    readLine(join(own, 'gitdir')) === join(planned.path, '.git') &&
    lstatSync(planned.path).isDirectory();
  if (isBound) return;
  throw refused(`the worktree ${planned.path} is gone or is no longer tied to ${planned.topLevel}`);
}

/** Removes the worktree with everything in it, and Git's record of it. Nothing else of the repository is touched. */
export function removeRemains(planned: PlannedWorktree): void {
  rmSync(planned.path, { recursive: true, force: true });
  const administration = join(planned.commonDirectory, 'worktrees');
  rmSync(join(administration, basename(planned.path)), { recursive: true, force: true });
  // Git itself removes the directory with the last worktree. One that is not empty stays, whoever filled it just now.
  try {
    rmdirSync(administration);
  } catch {
    // ENOTEMPTY or ENOENT.
  }
}

/**
 * What would be lost with the worktree: commits that are in no branch or tag of the repository, and paths that differ
 * from the last commit, files that Git ignores included.
 */
export async function listChanges(git: Git, planned: PlannedWorktree): Promise<string[]> {
  const readable = [planned.topLevel, planned.path];
  const places = { cwd: planned.path, readable, writable: [] };
  const filters = await listFilters(git, places);
  const commits = await git.run(
    [
      'rev-list',
      `--max-count=${MAX_COMMITS}`,
      'HEAD',
      '--not',
      planned.head,
      '--branches',
      '--tags',
      '--remotes',
    ],
    places,
  );
  const status = await git.run(
    ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--ignored', '--no-renames'],
    { ...places, filters },
  );
  if (!status.ok || !commits.ok) {
    throw refused(
      `the state of ${planned.path} cannot be told, since its repository ${planned.topLevel} is gone or broken; look at "git status" in it`,
    );
  }
  return [
    ...commits.stdout
      .split('\n')
      .filter(Boolean)
      .map((commit) => `commit ${commit} (keep it with "git branch NAME ${commit.slice(0, 12)}")`),
    ...status.stdout
      .split('\0')
      .filter(Boolean)
      .map((line) => line.slice(3)),
  ];
}

function readLine(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\n$/, '');
  } catch {
    return undefined;
  }
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
