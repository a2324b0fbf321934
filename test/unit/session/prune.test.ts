import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mintRunnerId } from '../../../src/base/ids.ts';
import { listActions, prepareAction } from '../../../src/ledger/actions.ts';
import { readBlob, storeBlob } from '../../../src/ledger/blobs.ts';
import { deleteSession, listPrunableSessions, reclaimSpace } from '../../../src/ledger/prune.ts';
import { findSession, setSessionRunner } from '../../../src/ledger/sessions.ts';
import { acceptReply } from '../../../src/session/accept-reply.ts';
import { finishRun } from '../../../src/session/finish-run.ts';
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

const prunable = (): string[] => listPrunableSessions(session.database).map(({ id }) => id);

function answerWithWrite(): void {
  const turnId = session.present();
  acceptReply(
    session.database,
    {
      sessionId: session.id,
      leaseId: session.leaseId,
      turnId,
      replyId: 'r',
      text: '',
      calls: [{ tool: 'Write', input: { file_path: 'a', content: 'x' } }],
    },
    NOW,
  );
}

test('a session that is live, has a runner or an action in doubt is never pruned', () => {
  expect(prunable()).toEqual([]);
  answerWithWrite();
  expect(prunable()).toEqual([]);
  const [action] = listActions(session.database, session.id);
  if (action === undefined) throw new Error('no action');
  const after = storeBlob(session.database, Buffer.from('x'), NOW.toISOString());
  prepareAction(
    session.database,
    action,
    { path: '/a', beforeSha256: null, beforeMode: null, afterSha256: after },
    NOW.toISOString(),
  );
  finishRun(session.database, session.id, { isError: true, text: 'x' }, NOW);
  expect(findSession(session.database, session.id)?.status).toBe('failed');
  expect(prunable()).toEqual([]);
  expect(deleteSession(session.database, session.id)).toBe(false);
});

test('an ended session goes with everything that only it refers to, and nothing else does', () => {
  finishRun(session.database, session.id, { isError: false, text: 'x' }, NOW);
  setSessionRunner(session.database, session.id, { id: mintRunnerId(), pid: 1, birth: 'x' });
  expect(prunable()).toEqual([]);
  setSessionRunner(session.database, session.id, null);
  expect(prunable()).toEqual([session.id]);
  const orphan = storeBlob(session.database, Buffer.from('orphan'), NOW.toISOString());
  expect(deleteSession(session.database, session.id)).toBe(true);
  reclaimSpace(session.database);
  expect(findSession(session.database, session.id)).toBeUndefined();
  expect(readBlob(session.database, orphan)).toBeUndefined();
});
