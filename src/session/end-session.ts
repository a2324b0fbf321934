import type { RunnerId, SessionId } from '../base/ids.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import {
  findSession,
  type LaunchErrorRecord,
  moveSession,
  type SessionRecord,
  setSessionClaude,
  setSessionNote,
  setSessionRunner,
} from '../ledger/sessions.ts';
import { SESSION_TABLE } from '../machine/session-machine.ts';
import { endRun } from './end-run.ts';

/**
 * Who records an end: the runner with this id, or null for a gateway that acts while the session has none. Whoever is
 * not, or no longer, what the ledger says of the session records nothing: another process may be at work in it by now.
 */
export type Recorder = RunnerId | null;

function whenOwn(
  database: LedgerDatabase,
  session: SessionId,
  recorder: Recorder,
  record: (current: SessionRecord) => void,
): void {
  database.transaction(() => {
    const current = findSession(database, session);
    if (current === undefined || (current.runner?.id ?? null) !== recorder) return;
    setSessionRunner(database, session, null);
    setSessionClaude(database, session, null);
    record(current);
  });
}

/** Claude Code has ended after a stop request: the session is stopped and its runner about to leave. */
export function finishStop(
  database: LedgerDatabase,
  session: SessionId,
  recorder: Recorder,
  now: Date,
): void {
  const at = now.toISOString();
  whenOwn(database, session, recorder, () => {
    endRun(database, session, { isError: true, text: 'The session was stopped.' }, at);
    moveSession(database, session, 'claude_ended');
    appendEvent(database, session, 'session_stopped', {}, at);
  });
}

/** The lease ran out: the run ends, the conversation stays and can be continued after a recover. */
export function expireLease(
  database: LedgerDatabase,
  session: SessionId,
  recorder: Recorder,
  now: Date,
): void {
  const at = now.toISOString();
  whenOwn(database, session, recorder, () => {
    endRun(database, session, { isError: true, text: 'The lease ran out.' }, at);
    moveSession(database, session, 'lease_ran_out');
    appendEvent(database, session, 'lease_expired', {}, at);
  });
}

/** Claude Code could not be brought to ask its first question. */
export function failLaunch(
  database: LedgerDatabase,
  session: SessionId,
  recorder: Recorder,
  error: LaunchErrorRecord,
  now: Date,
): void {
  const at = now.toISOString();
  whenOwn(database, session, recorder, (current) => {
    if (current.status !== 'starting') return;
    endRun(database, session, { isError: true, text: error.message }, at);
    moveSession(database, session, 'launch_failed');
    setSessionNote(database, session, 'launch_error', error);
    appendEvent(
      database,
      session,
      'launch_failed',
      { code: error.code, message: error.message },
      at,
    );
  });
}

/**
 * The runner that the ledger names is provably gone. Says so, and closes what only that process could have gone on
 * with. A session that had already ended keeps its status and only loses the runner.
 */
export function recordRunnerLost(
  database: LedgerDatabase,
  session: SessionId,
  runner: RunnerId,
  now: Date,
): void {
  const at = now.toISOString();
  whenOwn(database, session, runner, (current) => {
    if (SESSION_TABLE[current.status].runner_lost !== undefined) {
      const text =
        'The process that ran this session is gone; the conversation is saved and native_session_continue resumes it.';
      endRun(database, session, { isError: true, text }, at);
      moveSession(database, session, 'runner_lost');
    }
    appendEvent(database, session, 'runner_lost', {}, at);
  });
}

/** Claude Code ended without being told to. The conversation is saved up to the last answered turn. */
export function loseClaude(
  database: LedgerDatabase,
  session: SessionId,
  recorder: Recorder,
  how: string,
  now: Date,
): void {
  const at = now.toISOString();
  whenOwn(database, session, recorder, (current) => {
    if (SESSION_TABLE[current.status].run_failed !== undefined) {
      const text = `Claude Code ${how}; the conversation is saved and native_session_continue resumes it.`;
      endRun(database, session, { isError: true, text }, at);
      moveSession(database, session, 'run_failed');
    }
    appendEvent(database, session, 'runner_lost', { how }, at);
  });
}
