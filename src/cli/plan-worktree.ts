import { randomBytes } from 'node:crypto';
import { basename, join } from 'node:path';
import { type StateDirectory, worktreesRoot } from '../base/state-directory.ts';
import { openConfinement } from '../confine/open-confinement.ts';
import type { WorktreeRecord } from '../ledger/sessions.ts';
import { findExcludes } from '../worktree/find-excludes.ts';
import { createGit } from '../worktree/git.ts';
import { inspectSource } from '../worktree/inspect-source.ts';

/** Looks whether a worktree can be taken of `topLevel`, and says where it will be. Makes and changes nothing. */
export async function planWorktree(
  state: StateDirectory,
  userHome: string,
  topLevel: string,
): Promise<WorktreeRecord> {
  const git = createGit(await openConfinement(process.platform), await findExcludes(userHome));
  const source = await inspectSource(git, topLevel);
  const name = basename(topLevel)
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 60);
  return {
    source: source.topLevel,
    common_directory: source.commonDirectory,
    path: join(worktreesRoot(state), `${name}-${randomBytes(6).toString('hex')}`),
    head: source.head,
    branch: source.branch,
    state: 'planned',
  };
}
