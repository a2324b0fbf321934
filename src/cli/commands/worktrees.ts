import { existsSync } from 'node:fs';
import { systemClock } from '../../base/clock.ts';
import { escapeText } from '../../base/escape-text.ts';
import { ReinsError } from '../../base/reins-error.ts';
import { openStateDirectory } from '../../base/state-directory.ts';
import { openConfinement } from '../../confine/open-confinement.ts';
import type { LedgerDatabase } from '../../ledger/database.ts';
import { appendEvent } from '../../ledger/events.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import {
  listSessions,
  type SessionRecord,
  setSessionNote,
  type WorktreeRecord,
} from '../../ledger/sessions.ts';
import { identifyProcess, isAlive } from '../../process/process-identity.ts';
import { toPlannedWorktree } from '../../runner/to-planned-worktree.ts';
import { claimUndo } from '../../session/claim-undo.ts';
import {
  listChanges,
  type PlannedWorktree,
  removeRemains,
} from '../../worktree/create-worktree.ts';
import { findExcludes } from '../../worktree/find-excludes.ts';
import { createGit } from '../../worktree/git.ts';
import { describeAge } from '../describe-age.ts';
import type { Environment } from '../environment.ts';
import { findSessionByPrefix } from '../find-session.ts';
import { toJsonText } from '../to-json-text.ts';

/** Far more sessions than anybody keeps. */
const MAX_SESSIONS = 10_000;
const MAX_LISTED = 10;

interface KeptWorktree {
  readonly session: SessionRecord;
  readonly worktree: WorktreeRecord;
}

/** `reins worktrees`: the worktrees that sessions have kept. */
export function runWorktrees(environment: Environment, options: { readonly json?: true }): void {
  const state = openStateDirectory(environment.stateDirectory);
  const kept = listSessions(openLedger(state.database), MAX_SESSIONS).flatMap(toKept);
  if (options.json) {
    process.stdout.write(toJsonText(kept.map(toJson)));
    return;
  }
  if (kept.length === 0) {
    process.stdout.write(
      'No worktrees. Sessions with capability_profile worktree_write make them.\n',
    );
    return;
  }
  for (const { session, worktree } of kept) {
    const age = describeAge(session.updatedAt, new Date());
    const gone = existsSync(worktree.path) ? '' : '  (the directory is gone)';
    process.stdout.write(
      `${session.id}  ${session.status}  ${age}\n  ${escapeText(worktree.path)}${gone}\n  taken from ${escapeText(worktree.source)} at ${worktree.head.slice(0, 12)}${worktree.branch === null ? '' : `, where ${escapeText(worktree.branch)} was`}\n`,
    );
  }
}

/**
 * `reins worktrees remove SESSION`: removes the worktree of a session that is at rest. Changes in it are lost, so
 * they have to be given up by name of the option.
 */
export async function runRemoveWorktree(
  environment: Environment,
  sessionId: string,
  options: { readonly discardChanges?: true; readonly json?: true },
): Promise<void> {
  const state = openStateDirectory(environment.stateDirectory);
  const database = openLedger(state.database);
  const session = findSessionByPrefix(database, sessionId);
  const [kept] = toKept(session);
  if (kept === undefined) {
    throw new ReinsError(
      'invalid_parameter',
      `Session ${session.id} has no worktree to remove; "reins worktrees" lists those that have.`,
    );
  }
  requireAtRest(database, session);
  const planned = toPlannedWorktree(kept.worktree);
  if (options.discardChanges !== true && existsSync(planned.path)) {
    await requireNoChanges(planned, environment.userHome);
  }
  removeRemains(planned);
  const at = systemClock().toISOString();
  database.transaction(() => {
    setSessionNote(database, session.id, 'worktree', { ...kept.worktree, state: 'removed' });
    appendEvent(database, session.id, 'worktree_removed', { path: planned.path }, at);
  });
  process.stdout.write(
    options.json
      ? toJsonText({ removed: planned.path })
      : `Removed ${escapeText(planned.path)}. The session cannot be continued; its timeline stays.\n`,
  );
}

/** Reserves the session as an undo does: nobody starts a run in the directory that is about to go. */
function requireAtRest(database: LedgerDatabase, session: SessionRecord): void {
  const self = identifyProcess(process.pid);
  if (self === undefined) throw new Error('this process cannot be identified');
  claimUndo(database, session.id, self, isAlive);
}

async function requireNoChanges(planned: PlannedWorktree, userHome: string): Promise<void> {
  const confinement = await openConfinement(process.platform);
  const git = createGit(confinement, await findExcludes(userHome));
  const changes = await listChanges(git, planned);
  if (changes.length === 0) return;
  const listed = changes
    .slice(0, MAX_LISTED)
    .map((path) => `\n  ${escapeText(path)}`)
    .join('');
  const more = changes.length > MAX_LISTED ? `\n  and ${changes.length - MAX_LISTED} more` : '';
  throw new ReinsError(
    'worktree_refused',
    `${planned.path} has changes that would be lost:${listed}${more}\nTake over what is needed, then type the same with --discard-changes.`,
  );
}

function toKept(session: SessionRecord): KeptWorktree[] {
  const { worktree } = session;
  return worktree === null || worktree.state === 'removed' ? [] : [{ session, worktree }];
}

function toJson({ session, worktree }: KeptWorktree): object {
  return {
    native_session_id: session.id,
    status: session.status,
    path: worktree.path,
    source_directory: worktree.source,
    head: worktree.head,
    source_branch: worktree.branch,
    state: worktree.state,
    exists: existsSync(worktree.path),
  };
}
