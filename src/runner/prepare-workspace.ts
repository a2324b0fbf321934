import { lstatSync, realpathSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { ReinsError } from '../base/reins-error.ts';
import type { Confinement } from '../confine/confinement.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import { type SessionRecord, setSessionNote } from '../ledger/sessions.ts';
import { createWorktree, requireBinding } from '../worktree/create-worktree.ts';
import { createGit } from '../worktree/git.ts';
import { toPlannedWorktree } from './to-planned-worktree.ts';

/**
 * Sees to it that the session works where it was created for: makes its worktree the first time, and checks every
 * time that the directory is still the one. Throws `workspace_unavailable`. A crash in the middle leaves a worktree
 * that is planned, and is made anew by the next runner.
 */
export async function prepareWorkspace(
  database: LedgerDatabase,
  session: SessionRecord,
  confinement: Confinement,
  clock: Clock,
): Promise<void> {
  const { worktree } = session;
  if (worktree === null) {
    requireDirectory(session.workingDirectory);
    return;
  }
  const planned = toPlannedWorktree(worktree);
  if (worktree.state === 'removed') {
    throw unavailable('its worktree was removed with "reins worktrees remove"');
  }
  try {
    if (worktree.state === 'ready') {
      requireBinding(planned);
      return;
    }
    await createWorktree(createGit(confinement), planned);
  } catch (error) {
    throw error instanceof ReinsError ? unavailable(error.message.replace(/\.$/, '')) : error;
  }
  const at = clock().toISOString();
  database.transaction(() => {
    setSessionNote(database, session.id, 'worktree', { ...worktree, state: 'ready' });
    appendEvent(
      database,
      session.id,
      'worktree_created',
      { path: worktree.path, source: worktree.source, head: worktree.head },
      at,
    );
  });
}

function requireDirectory(path: string): void {
  try {
    if (realpathSync(path) === path && lstatSync(path).isDirectory()) return;
  } catch {
    // It is gone, which is said below.
  }
  throw unavailable(`${path} is no longer the directory that it was created for`);
}

function unavailable(reason: string): ReinsError {
  return new ReinsError(
    'workspace_unavailable',
    `The session cannot work where it was created for: ${reason}; start another session.`,
  );
}
