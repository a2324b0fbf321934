import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Git, refused } from './git.ts';
import { listFilters, type WorktreeSource } from './inspect-source.ts';

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
  removeRemains(planned);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  mkdirSync(administration, { recursive: true });
  const readable = [topLevel];
  const writable = [administration, path];
  const filters = await listFilters(git, { cwd: topLevel, readable });
  const added = await git.run(
    ['worktree', 'add', '--quiet', '--detach', '--no-checkout', '--lock', '--', path, head],
    { cwd: topLevel, readable, writable, filters },
  );
  if (!added.ok) throw refused(`"git worktree add" failed in ${topLevel}; look at "git fsck"`);
  const inside = { cwd: path, readable, writable, filters };
  const read = await git.run(['read-tree', head], inside);
  const wrote =
    read.ok && (await git.run(['checkout-index', '--all', '--force', '--quiet', '-u'], inside)).ok;
  if (!wrote)
    throw refused(`the files of ${head.slice(0, 12)} could not be written; look at the disk`);
  requireBinding(planned);
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
  throw refused(
    `the worktree ${planned.path} is gone or is no longer tied to ${planned.topLevel}; start another session`,
  );
}

/** Removes the worktree with everything in it, and Git's record of it. Nothing else of the repository is touched. */
export function removeRemains(planned: PlannedWorktree): void {
  rmSync(planned.path, { recursive: true, force: true });
  const administration = join(planned.commonDirectory, 'worktrees');
  rmSync(join(administration, basename(planned.path)), { recursive: true, force: true });
  // Git itself removes the directory with the last worktree.
  if (existsSync(administration) && readdirSync(administration).length === 0) {
    rmSync(administration, { recursive: true });
  }
}

/** Paths with changes against the commit that the worktree was made of, as Git sees them. */
export async function listChanges(git: Git, planned: PlannedWorktree): Promise<string[]> {
  const readable = [planned.topLevel, planned.path];
  const filters = await listFilters(git, { cwd: planned.path, readable });
  const status = await git.run(
    ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames'],
    { cwd: planned.path, readable, writable: [], filters },
  );
  if (!status.ok)
    throw refused(`the state of ${planned.path} cannot be told; look at "git status" in it`);
  return status.stdout
    .split('\0')
    .filter(Boolean)
    .map((line) => line.slice(3));
}

function readLine(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\n$/, '');
  } catch {
    return undefined;
  }
}
