import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listActions } from '../../src/ledger/actions.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { findSession } from '../../src/ledger/sessions.ts';
import { findActiveSubsession } from '../../src/ledger/subsessions.ts';
import { createLedgerSession } from '../support/ledger-session.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reins-unit-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

test('N47 the database is readable by its owner alone, also when it was not before', () => {
  const path = join(directory, 'state.db');
  openLedger(path).close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  chmodSync(path, 0o644);
  openLedger(path).close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a database from a newer version is refused and left as it is', () => {
  const path = join(directory, 'state.db');
  const database = openLedger(path);
  database.execute('PRAGMA user_version=99');
  database.close();
  expect(() => openLedger(path)).toThrow(
    expect.objectContaining({ code: 'state_from_newer_version' }),
  );
});

test('a row that does not fit stops with its place instead of being used', () => {
  const session = createLedgerSession(directory);
  session.database.run("UPDATE sessions SET status='sleeping'");
  expect(() => findSession(session.database, session.id)).toThrow(
    expect.objectContaining({ code: 'state_corrupt' }),
  );
  session.database.close();
});

test('a transaction that throws leaves nothing, and an inner one joins the outer', () => {
  const session = createLedgerSession(directory);
  const label = (): string | null | undefined => findSession(session.database, session.id)?.label;
  expect(() =>
    session.database.transaction(() => {
      session.database.transaction(() => session.database.run("UPDATE sessions SET label='x'"));
      expect(label()).toBe('x');
      throw new Error('stop');
    }),
  ).toThrow('stop');
  expect(label()).toBeNull();
  session.database.transaction(() => session.database.run("UPDATE sessions SET label='y'"));
  expect(label()).toBe('y');
  session.database.close();
});

test('a database of the version before subagents keeps its sessions and their actions', () => {
  const session = createLedgerSession(directory);
  const { database, id } = session;
  database.execute(
    'DROP TABLE subsessions; ALTER TABLE actions DROP COLUMN subsession_id; ALTER TABLE sessions DROP COLUMN full_context_due; PRAGMA user_version=3',
  );
  database.close();
  const migrated = openLedger(join(directory, 'state.db'));
  expect(findSession(migrated, id)?.id).toBe(id);
  expect(listActions(migrated, id)).toEqual([]);
  expect(findActiveSubsession(migrated, id)).toBeUndefined();
  migrated.close();
});
