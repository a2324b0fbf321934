import { join } from 'node:path';
import type { LeaseId, SessionId, TurnId } from '../../src/base/ids.ts';
import { sha256 } from '../../src/base/sha256.ts';
import type { LedgerDatabase } from '../../src/ledger/database.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { findLatestRun } from '../../src/ledger/runs.ts';
import { createSession } from '../../src/session/create-session.ts';
import { presentTurn } from '../../src/session/present-turn.ts';
import { startQueuedRun } from '../../src/session/start-queued-run.ts';

/** A ledger on disk with one session in it, driven by the rules alone: no process, no socket. */
export interface LedgerSession {
  readonly path: string;
  readonly database: LedgerDatabase;
  readonly id: SessionId;
  readonly leaseId: LeaseId;
  /** Makes a model request of Claude Code the pending turn. */
  present(content?: string): TurnId;
}

export function createLedgerSession(directory: string, now = new Date()): LedgerSession {
  const path = join(directory, 'state.db');
  const database = openLedger(path);
  const { sessionId: id, leaseId } = createSession(
    database,
    {
      prompt: 'the task',
      workingDirectory: directory,
      idempotencyKey: 'start',
      label: null,
      profile: 'direct_write',
      subagentPolicy: 'none',
      skills: [],
    },
    { workingDirectory: directory, worktree: null, skills: [] },
    3600,
    now,
  );
  startQueuedRun(database, id, now);
  let requests = 0;
  return {
    path,
    database,
    id,
    leaseId,
    present(content) {
      requests += 1;
      const run = findLatestRun(database, id);
      if (run === undefined) throw new Error('the session has no run');
      const turn = presentTurn(
        database,
        id,
        {
          runId: run.id,
          purpose: 'step',
          requestSha256: sha256(content ?? `request ${requests}`),
          messages: [],
        },
        now,
      );
      return turn.id;
    },
  };
}
