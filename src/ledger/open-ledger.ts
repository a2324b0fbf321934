import { chmodSync, closeSync, openSync } from 'node:fs';
import { LedgerDatabase } from './database.ts';
import { migrate } from './migrations.ts';

/** Opens (and on first use creates, 0600) the database at `path` and brings its schema up to date. */
export function openLedger(path: string): LedgerDatabase {
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  const database = new LedgerDatabase(path);
  migrate(database);
  return database;
}
