import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mintRunnerId } from '../../../src/base/ids.ts';
import { listActions } from '../../../src/ledger/actions.ts';
import { hashEvent, listEvents } from '../../../src/ledger/events.ts';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import { findSession } from '../../../src/ledger/sessions.ts';
import { findTurn } from '../../../src/ledger/turns.ts';
import { acceptReply } from '../../../src/session/accept-reply.ts';
import { claimSession } from '../../../src/session/claim-session.ts';
import { recordRunnerLost } from '../../../src/session/end-session.ts';
import { finishRun } from '../../../src/session/finish-run.ts';
import { queuePrompt } from '../../../src/session/queue-prompt.ts';
import { createLedgerSession, type LedgerSession } from '../../support/ledger-session.ts';

let directory: string;
let session: LedgerSession;
const NOW = new Date();

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reins-unit-'));
  session = createLedgerSession(directory, NOW);
});

afterEach(() => {
  session.database.close();
  rmSync(directory, { recursive: true, force: true });
});

const CALL = { tool: 'Read', input: { file_path: 'a' } };

const reply = (over: Partial<Parameters<typeof acceptReply>[1]> = {}) => ({
  sessionId: session.id,
  leaseId: session.leaseId,
  turnId: '',
  replyId: 'r1',
  text: 'hello',
  calls: [CALL],
  ...over,
});

test('N43 when a reply is accepted, another process sees it and its actions on disk', () => {
  const turnId = session.present();
  const accepted = acceptReply(session.database, reply({ turnId }), NOW);
  const other = openLedger(session.path);
  expect(findTurn(other, session.id, turnId)).toMatchObject({
    state: 'answered',
    replyText: 'hello',
  });
  expect(listActions(other, session.id)).toMatchObject([
    { tool: 'Read', state: 'authorized', toolUseId: accepted?.actions[0]?.toolUseId },
  ]);
  expect(findSession(other, session.id)?.status).toBe('running');
  other.close();
});

test('N7 a repeated reply authorises nothing again, and the same key with other input is refused', () => {
  const turnId = session.present();
  acceptReply(session.database, reply({ turnId }), NOW);
  const before = listEvents(session.database, session.id).length;
  expect(acceptReply(session.database, reply({ turnId }), NOW)).toBeNull();
  for (const other of [{ text: 'other' }, { calls: [] }, { turnId: session.present() }]) {
    expect(() => acceptReply(session.database, reply({ turnId, ...other }), NOW)).toThrow(
      expect.objectContaining({ code: 'idempotency_conflict' }),
    );
  }
  expect(listActions(session.database, session.id)).toHaveLength(1);
  expect(listEvents(session.database, session.id)).toHaveLength(before + 1);
});

test('F27 tool-use ids are minted here, unique, and never the ones of a client', () => {
  const turnId = session.present();
  const accepted = acceptReply(session.database, reply({ turnId, calls: [CALL, CALL, CALL] }), NOW);
  const ids = accepted?.actions.map(({ toolUseId }) => toolUseId) ?? [];
  expect(new Set(ids).size).toBe(3);
  for (const id of ids) expect(id).toMatch(/^toolu_reins_/);
});

test('a refused reply leaves no trace', () => {
  const turnId = session.present();
  const before = listEvents(session.database, session.id);
  const late = new Date(NOW.getTime() + 3_601_000);
  for (const [over, now, code] of [
    [{ leaseId: 'lease_x' }, NOW, 'lease_stale'],
    [{}, late, 'lease_expired'],
    [{ turnId: 'turn_x' }, NOW, 'turn_unknown'],
    [{ sessionId: 'ns_x' }, NOW, 'session_unknown'],
  ] as const) {
    expect(() => acceptReply(session.database, reply({ turnId, ...over }), now)).toThrow(
      expect.objectContaining({ code }),
    );
  }
  expect(listEvents(session.database, session.id)).toEqual(before);
  expect(findTurn(session.database, session.id, turnId)?.state).toBe('pending');
});

test('N45 what was authorised and never carried out is refused for good when the runner is gone', () => {
  const turnId = session.present();
  acceptReply(session.database, reply({ turnId }), NOW);
  const runner = { id: mintRunnerId(), pid: 1, birth: 'x' };
  expect(claimSession(session.database, session.id, runner, () => false, NOW)).toBe(false);
  session.database.run(
    'UPDATE sessions SET runner_id=?, runner_pid=1, runner_birth=? WHERE session_id=?',
    runner.id,
    'x',
    session.id,
  );
  recordRunnerLost(session.database, session.id, mintRunnerId(), NOW);
  expect(findSession(session.database, session.id)?.status).toBe('running');
  recordRunnerLost(session.database, session.id, runner.id, NOW);
  expect(findSession(session.database, session.id)).toMatchObject({
    status: 'failed',
    runner: null,
  });
  expect(listActions(session.database, session.id)).toMatchObject([{ state: 'refused' }]);
  queuePrompt(
    session.database,
    { sessionId: session.id, leaseId: session.leaseId, prompt: 'again', idempotencyKey: 'k' },
    NOW,
  );
  expect(claimSession(session.database, session.id, runner, () => false, NOW)).toBe(true);
  expect(
    claimSession(session.database, session.id, { ...runner, id: mintRunnerId() }, () => true, NOW),
  ).toBe(false);
});

test('a success that is reported while a turn is pending is none', () => {
  session.present();
  finishRun(session.database, session.id, { isError: false, text: 'fine' }, NOW);
  expect(findSession(session.database, session.id)).toMatchObject({
    status: 'failed',
    lastResult: { is_error: true },
  });
});

test('B6 every event is chained to the one before by a hash over all of it', () => {
  const turnId = session.present();
  acceptReply(session.database, reply({ turnId }), NOW);
  const events = listEvents(session.database, session.id);
  expect(events.length).toBeGreaterThan(3);
  let previous = '0'.repeat(64);
  events.forEach((event, position) => {
    expect(event.sequence).toBe(position + 1);
    expect(event.previousHash).toBe(previous);
    expect(hashEvent(session.id, event)).toBe(event.hash);
    previous = event.hash;
  });
  expect(findSession(session.database, session.id)?.revision).toBe(events.length);
});

test('texts with a zero byte and empty contents survive the ledger', async () => {
  const { storeBlob, readBlob } = await import('../../../src/ledger/blobs.ts');
  const turnId = session.present();
  acceptReply(
    session.database,
    reply({ turnId, text: 'a\0b', calls: [{ tool: 'Write', input: { content: 'c\0d' } }] }),
    NOW,
  );
  expect(findTurn(session.database, session.id, turnId)?.replyText).toBe('a\0b');
  expect(listActions(session.database, session.id)[0]?.input).toEqual({ content: 'c\0d' });
  for (const content of ['', 'x', '\0\0']) {
    const hash = storeBlob(session.database, Buffer.from(content), NOW.toISOString());
    expect(Buffer.from(readBlob(session.database, hash) ?? 'none').toString()).toBe(content);
  }
  expect(() => session.database.run('UPDATE sessions SET label=?', 'a\0b')).toThrow(
    expect.objectContaining({ code: 'internal' }),
  );
});
