import { rmSync } from 'node:fs';
import { openStateDirectory } from '../../base/state-directory.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import {
  deleteSession,
  listPrunableSessions,
  type PrunableSession,
  reclaimSpace,
} from '../../ledger/prune.ts';
import { describeAge } from '../describe-age.ts';
import type { Environment } from '../environment.ts';
import { toJsonText } from '../to-json-text.ts';

export interface PruneOptions {
  /** Sessions that have been untouched for this many days go. */
  readonly olderThan: number;
  /** The oldest ones go until the rest takes up no more than this many megabytes. */
  readonly maxMegabytes?: number;
  readonly yes?: true;
  readonly json?: true;
}

/** `reins prune`: says what would go, and lets it go with --yes. */
export function runPrune(environment: Environment, options: PruneOptions): void {
  const state = openStateDirectory(environment.stateDirectory);
  const database = openLedger(state.database);
  const chosen = choose(listPrunableSessions(database), options, new Date());
  const removed: PrunableSession[] = [];
  if (options.yes === true) {
    for (const session of chosen) {
      if (!deleteSession(database, session.id)) continue;
      rmSync(state.sessionPaths(session.id).root, { recursive: true, force: true });
      removed.push(session);
    }
    if (removed.length > 0) reclaimSpace(database);
  }
  const listed = options.yes === true ? removed : chosen;
  process.stdout.write(
    options.json
      ? toJsonText({ removed: options.yes === true, sessions: listed })
      : describe(listed, options.yes === true),
  );
}

function choose(
  oldestFirst: readonly PrunableSession[],
  options: PruneOptions,
  now: Date,
): PrunableSession[] {
  const before = new Date(now.getTime() - options.olderThan * 86_400_000).toISOString();
  let left = oldestFirst.reduce((sum, session) => sum + session.bytes, 0);
  const limit = (options.maxMegabytes ?? Number.POSITIVE_INFINITY) * 1_000_000;
  return oldestFirst.filter((session) => {
    const goes = session.updatedAt < before || left > limit;
    if (goes) left -= session.bytes;
    return goes;
  });
}

function describe(sessions: readonly PrunableSession[], removed: boolean): string {
  if (sessions.length === 0) return 'Nothing to prune.\n';
  const lines = sessions.map(
    (session) =>
      `${session.id}  ${describeAge(session.updatedAt, new Date())}  ${Math.ceil(session.bytes / 1000)} KB`,
  );
  const total = sessions.length === 1 ? '1 session' : `${sessions.length} sessions`;
  const end = removed
    ? `${total} removed.`
    : `${total} would be removed, for good: no continuing and no undo. Type the same with --yes.`;
  return `${lines.join('\n')}\n${end}\n`;
}
