import type { WorktreeRecord } from '../ledger/sessions.ts';
import type { PlannedWorktree } from '../worktree/create-worktree.ts';

/** A session's worktree as those who make and remove it know it. */
export function toPlannedWorktree(worktree: WorktreeRecord): PlannedWorktree {
  return {
    topLevel: worktree.source,
    commonDirectory: worktree.common_directory,
    head: worktree.head,
    branch: worktree.branch,
    path: worktree.path,
  };
}
