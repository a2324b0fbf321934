import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mintRunnerId } from '../../../src/base/ids.ts';
import { listActions, prepareAction } from '../../../src/ledger/actions.ts';
import { findSession, setSessionRunner, setSessionUndoer } from '../../../src/ledger/sessions.ts';
import { ChangeSignal } from '../../../src/runner/change-signal.ts';
import { handleRequest } from '../../../src/runner/handle-request.ts';
import { recordEnd } from '../../../src/runner/record-end.ts';
import { acceptReply } from '../../../src/session/accept-reply.ts';
import { claimUndo } from '../../../src/session/claim-undo.ts';
import {
  expireLease,
  failLaunch,
  finishStop,
  loseClaude,
} from '../../../src/session/end-session.ts';
import { finishRun } from '../../../src/session/finish-run.ts';
import { queuePrompt } from '../../../src/session/queue-prompt.ts';
import { requestStop } from '../../../src/session/request-stop.ts';
import { requireSession } from '../../../src/session/require-session.ts';
import { createLedgerSession, type LedgerSession } from '../../support/ledger-session.ts';

let directory: string;
let session: LedgerSession;
const NOW = new Date();
const RUNNER = { id: mintRunnerId(), pid: 1, birth: 'x' };

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reins-unit-'));
  session = createLedgerSession(directory, NOW);
});

afterEach(() => {
  session.database.close();
  rmSync(directory, { recursive: true, force: true });
});

const current = () => findSession(session.database, session.id);
const stop = (requestId: string) =>
  requestStop(
    session.database,
    { sessionId: session.id, leaseId: session.leaseId, requestId, reason: null },
    NOW,
  );
const prompt = (key: string) =>
  queuePrompt(
    session.database,
    { sessionId: session.id, leaseId: session.leaseId, prompt: 'next', idempotencyKey: key },
    NOW,
  );
const answerWithWrite = () =>
  acceptReply(
    session.database,
    {
      sessionId: session.id,
      leaseId: session.leaseId,
      turnId: session.present(),
      replyId: `r${Math.random()}`,
      text: '',
      calls: [{ tool: 'Write', input: { file_path: 'a', content: 'x' } }],
    },
    NOW,
  );

test('N45 whoever is not what the ledger says of the session records no end of it', () => {
  setSessionRunner(session.database, session.id, RUNNER);
  for (const recorder of [null, mintRunnerId()]) {
    failLaunch(
      session.database,
      session.id,
      recorder,
      { code: 'runner_failed', message: 'x' },
      NOW,
    );
    loseClaude(session.database, session.id, recorder, 'x', NOW);
    expireLease(session.database, session.id, recorder, NOW);
    finishStop(session.database, session.id, recorder, NOW);
    expect(current()).toMatchObject({ status: 'starting', runner: RUNNER });
  }
  failLaunch(session.database, session.id, RUNNER.id, { code: 'runner_failed', message: 'x' }, NOW);
  expect(current()).toMatchObject({ status: 'failed', runner: null });
});

test('a session that is to stop is stopped, whatever its processes end of', () => {
  for (const cause of [
    { kind: 'terminated', by: 'x' },
    { kind: 'claude_exited', how: 'x' },
    { kind: 'lease_ran_out' },
    { kind: 'launch_failed', code: 'runner_failed', message: 'x' },
  ] as const) {
    setSessionRunner(session.database, session.id, RUNNER);
    stop(cause.kind);
    recordEnd(session.database, session.id, RUNNER.id, cause, NOW);
    expect(current()).toMatchObject({ status: 'stopped', runner: null });
    prompt(cause.kind);
  }
});

function handlers() {
  const calls: string[] = [];
  return {
    calls,
    all: {
      database: session.database,
      session: requireSession(session.database, session.id),
      clock: () => NOW,
      changes: new ChangeSignal(),
      release: () => calls.push('release'),
      takeUpPrompt: () => calls.push('take up'),
      stop: async () => {
        calls.push('stop');
      },
    },
  };
}

test('N7 a repeated stop ends nothing that was begun after it', async () => {
  const { all, calls } = handlers();
  const request = {
    id: 1,
    method: 'stop',
    lease_id: session.leaseId,
    request_id: 's',
    reason: null,
  } as const;
  await handleRequest(all, request);
  expect(calls).toEqual(['stop']);
  finishStop(session.database, session.id, null, NOW);
  prompt('again');
  expect(await handleRequest(all, request)).toEqual({ replay: true });
  expect(calls).toEqual(['stop']);
});

test('N7 a prompt that was queued and not taken up is taken up by its repetition', async () => {
  finishRun(session.database, session.id, { isError: false, text: 'x' }, NOW);
  const { all, calls } = handlers();
  const request = {
    id: 1,
    method: 'continue',
    lease_id: session.leaseId,
    prompt: 'next',
    idempotency_key: 'c',
  } as const;
  await handleRequest(all, request);
  expect(await handleRequest(all, request)).toEqual({ replay: true });
  expect(calls).toEqual(['take up', 'take up']);
});

test('B3 a session that is being undone takes no prompt and no second undo', () => {
  finishRun(session.database, session.id, { isError: false, text: 'x' }, NOW);
  const undoer = { pid: 7, birth: 'b' };
  claimUndo(session.database, session.id, undoer, () => true);
  expect(() => prompt('c')).toThrow(expect.objectContaining({ code: 'session_busy' }));
  expect(() => claimUndo(session.database, session.id, { pid: 8, birth: 'c' }, () => true)).toThrow(
    expect.objectContaining({ code: 'undo_refused' }),
  );
  claimUndo(session.database, session.id, { pid: 8, birth: 'c' }, () => false);
  setSessionUndoer(session.database, session.id, null);
  prompt('c');
  expect(() => claimUndo(session.database, session.id, undoer, () => true)).toThrow(
    expect.objectContaining({ code: 'undo_refused' }),
  );
});

test('N21 nothing goes on from an action of which nobody knows whether it happened', () => {
  answerWithWrite();
  const [action] = listActions(session.database, session.id);
  if (action === undefined) throw new Error('no action');
  const change = { path: '/a', beforeSha256: null, beforeMode: null, afterSha256: 'a'.repeat(64) };
  prepareAction(session.database, action, change, NOW.toISOString());
  expect(() => answerWithWrite()).toThrow(expect.objectContaining({ code: 'recovery_required' }));
  finishRun(session.database, session.id, { isError: true, text: 'x' }, NOW);
  expect(() => prompt('c')).toThrow(expect.objectContaining({ code: 'recovery_required' }));
});
