import * as z from 'zod';
import { isRunId, type RunId, type SessionId } from '../base/ids.ts';
import { RUN_STATES, RUN_TABLE, type RunEvent, type RunState } from '../machine/run-machine.ts';
import { requireTransition } from '../machine/transition-table.ts';
import { instantColumn, jsonColumn } from './columns.ts';
import type { LedgerDatabase } from './database.ts';

/** One prompt and everything that Claude Code does until it reports a result for it. */
export interface RunRecord {
  readonly id: RunId;
  readonly ordinal: number;
  readonly prompt: string;
  readonly state: RunState;
  readonly createdAt: string;
  readonly endedAt: string | null;
}

const runRow = z
  .strictObject({
    run_id: z.custom<RunId>(isRunId),
    session_id: z.string(),
    ordinal: z.number().int().positive(),
    prompt: jsonColumn(z.string()),
    state: z.enum(RUN_STATES),
    created_at: instantColumn,
    ended_at: instantColumn.nullable(),
  })
  .transform(
    (row): RunRecord => ({
      id: row.run_id,
      ordinal: row.ordinal,
      prompt: row.prompt,
      state: row.state,
      createdAt: row.created_at,
      endedAt: row.ended_at,
    }),
  );

export function insertRun(
  database: LedgerDatabase,
  session: SessionId,
  id: RunId,
  prompt: string,
  at: string,
): void {
  database.run(
    `INSERT INTO runs (run_id, session_id, ordinal, prompt, state, created_at)
     SELECT ?, ?, COALESCE(MAX(ordinal), 0) + 1, ?, 'queued', ? FROM runs WHERE session_id=?`,
    id,
    session,
    JSON.stringify(prompt),
    at,
    session,
  );
}

export function findLatestRun(database: LedgerDatabase, session: SessionId): RunRecord | undefined {
  return database.first(
    runRow,
    'SELECT * FROM runs WHERE session_id=? ORDER BY ordinal DESC LIMIT 1',
    session,
  );
}

export function listRuns(database: LedgerDatabase, session: SessionId): RunRecord[] {
  return database.all(runRow, 'SELECT * FROM runs WHERE session_id=? ORDER BY ordinal', session);
}

/** Moves a run by an event of its machine. Throws `internal` if illegal. */
export function moveRun(
  database: LedgerDatabase,
  run: RunRecord,
  event: RunEvent,
  at: string,
): void {
  const state = requireTransition(RUN_TABLE, run.state, event);
  database.run(
    'UPDATE runs SET state=?, ended_at=? WHERE run_id=?',
    state,
    event === 'started' ? null : at,
    run.id,
  );
}
