import Database from 'libsql';
import type * as z from 'zod';
import { ReinsError } from '../base/reins-error.ts';

/** What SQLite takes as a bound value here. */
export type SqlValue = string | number | null | Uint8Array;

/** How long a statement waits for another process's write lock before it gives up, in milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * A connection to `state.db`. Every read goes through a schema: a row that does not fit stops with its table and
 * position instead of being used. Every commit is on disk when the call returns (WAL, synchronous=FULL).
 */
export class LedgerDatabase {
  readonly #connection: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();
  #depth = 0;

  constructor(path: string) {
    try {
      this.#connection = new Database(path);
      this.#connection.exec(
        `PRAGMA busy_timeout=${BUSY_TIMEOUT_MS}; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA cache_size=-2000;`,
      );
    } catch (error) {
      throw toStorageError(error);
    }
  }

  run(sql: string, ...values: readonly SqlValue[]): number {
    try {
      return this.#prepare(sql).run(...values.map(toBindable)).changes;
    } catch (error) {
      throw toStorageError(error);
    }
  }

  first<Row>(schema: z.ZodType<Row>, sql: string, ...values: readonly SqlValue[]): Row | undefined {
    return this.all(schema, sql, ...values)[0];
  }

  all<Row>(schema: z.ZodType<Row>, sql: string, ...values: readonly SqlValue[]): Row[] {
    const rows = this.#query(sql, values);
    return rows.map((row, index) => {
      const parsed = schema.safeParse(stripDriverProperty(row));
      if (parsed.success) return parsed.data;
      const issue = parsed.error.issues[0];
      throw new ReinsError(
        'state_corrupt',
        `Row ${index + 1} of "${sql.slice(0, 80)}" does not fit its schema at ${issue?.path.join('.') ?? '?'}; restore state.db from a backup or move it away.`,
      );
    });
  }

  /**
   * Runs `work` in one immediate transaction: all of it is durable when this returns, or none of it happened.
   * A transaction inside a transaction joins the outer one.
   */
  transaction<Result>(work: () => Result): Result {
    if (this.#depth > 0) return work();
    this.execute('BEGIN IMMEDIATE');
    this.#depth += 1;
    try {
      const result = work();
      this.execute('COMMIT');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  execute(sql: string): void {
    try {
      this.#connection.exec(sql);
    } catch (error) {
      throw toStorageError(error);
    }
  }

  close(): void {
    this.#statements.clear();
    this.#connection.close();
  }

  #rollBack(): void {
    try {
      this.#connection.exec('ROLLBACK');
    } catch {
      // SQLite ends a transaction itself after some failures (disk full); the first error is the one to report.
    }
  }

  #query(sql: string, values: readonly SqlValue[]): unknown[] {
    try {
      return this.#prepare(sql).all(...values.map(toBindable));
    } catch (error) {
      throw toStorageError(error);
    }
  }

  #prepare(sql: string): Database.Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/**
 * libsql cuts a text at its first zero byte when it reads it back, and aborts the process on an empty blob. Callers
 * store free text as JSON, which escapes the one, and never store the other; this makes sure of it.
 */
function toBindable(value: SqlValue): SqlValue {
  const lossy =
    typeof value === 'string'
      ? value.includes('\0')
      : value instanceof Uint8Array && value.length === 0;
  if (lossy) {
    throw new ReinsError(
      'internal',
      'A value that the ledger cannot keep was to be stored; nothing was.',
    );
  }
  return value;
}

/** libsql adds a `_metadata` property to each row; it is the driver's and no column. */
function stripDriverProperty(row: unknown): unknown {
  if (row === null || typeof row !== 'object') return row;
  const { _metadata: _driver, ...columns } = row as Record<string, unknown>;
  return columns;
}

function toStorageError(error: unknown): ReinsError {
  if (error instanceof ReinsError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ReinsError(
    'storage_failed',
    `The ledger could not be read or written (${reason}); nothing was acknowledged. Check the space and permissions of the state directory, then repeat the call.`,
    { cause: error },
  );
}
