import * as z from 'zod';
import { ReinsError } from '../base/reins-error.ts';
import type { LedgerDatabase } from './database.ts';

/** Applied in order, each once; a released entry is never edited, only followed by another. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    claude_session_id TEXT NOT NULL UNIQUE,
    label TEXT,
    capability_profile TEXT NOT NULL,
    subagent_policy TEXT NOT NULL,
    working_directory TEXT NOT NULL,
    status TEXT NOT NULL,
    revision INTEGER NOT NULL,
    lease_id TEXT NOT NULL,
    lease_seconds INTEGER NOT NULL,
    lease_expires_at TEXT NOT NULL,
    runner_id TEXT,
    runner_pid INTEGER,
    runner_birth TEXT,
    claude_pid INTEGER,
    claude_birth TEXT,
    undoer_pid INTEGER,
    undoer_birth TEXT,
    launch_error TEXT,
    last_result TEXT,
    stop_request TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE requests (
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    input_sha256 TEXT NOT NULL,
    outcome TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (scope, kind, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions,
    ordinal INTEGER NOT NULL,
    prompt TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at TEXT NOT NULL,
    ended_at TEXT,
    UNIQUE (session_id, ordinal)
  ) STRICT;
  CREATE TABLE turns (
    turn_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions,
    run_id TEXT NOT NULL REFERENCES runs,
    sequence INTEGER NOT NULL,
    purpose TEXT NOT NULL,
    state TEXT NOT NULL,
    request_sha256 TEXT NOT NULL,
    messages TEXT NOT NULL,
    full_context INTEGER NOT NULL,
    reply_text TEXT,
    reply_fingerprint TEXT,
    created_at TEXT NOT NULL,
    answered_at TEXT,
    UNIQUE (session_id, sequence)
  ) STRICT;
  CREATE INDEX turns_by_reply ON turns (session_id, reply_fingerprint);
  CREATE TABLE actions (
    action_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions,
    turn_id TEXT NOT NULL REFERENCES turns,
    ordinal INTEGER NOT NULL,
    tool TEXT NOT NULL,
    tool_use_id TEXT NOT NULL UNIQUE,
    input TEXT NOT NULL,
    input_sha256 TEXT NOT NULL,
    state TEXT NOT NULL,
    path TEXT,
    before_sha256 TEXT,
    before_mode INTEGER,
    after_sha256 TEXT,
    receipt TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (turn_id, ordinal)
  ) STRICT;
  CREATE INDEX actions_by_path ON actions (session_id, path, updated_at);
  CREATE TABLE blobs (
    sha256 TEXT PRIMARY KEY,
    bytes BLOB NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES sessions,
    sequence INTEGER NOT NULL,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (session_id, sequence)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE sessions ADD COLUMN boundary TEXT;
  ALTER TABLE sessions ADD COLUMN worktree TEXT;
  `,
  `
  CREATE TABLE skills (
    session_id TEXT NOT NULL REFERENCES sessions,
    ordinal INTEGER NOT NULL,
    skill_id TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    body TEXT NOT NULL,
    body_sha256 TEXT NOT NULL,
    PRIMARY KEY (session_id, ordinal)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE subsessions (
    subsession_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions,
    ordinal INTEGER NOT NULL,
    action_id TEXT NOT NULL UNIQUE REFERENCES actions,
    claude_session_id TEXT NOT NULL UNIQUE,
    model_class TEXT NOT NULL,
    model TEXT NOT NULL,
    task TEXT NOT NULL,
    max_turns INTEGER NOT NULL,
    deadline TEXT NOT NULL,
    state TEXT NOT NULL,
    turns INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    last_text TEXT NOT NULL,
    outcome TEXT,
    claude_pid INTEGER,
    claude_birth TEXT,
    created_at TEXT NOT NULL,
    ended_at TEXT,
    UNIQUE (session_id, ordinal)
  ) STRICT;
  CREATE UNIQUE INDEX one_active_subsession ON subsessions (session_id)
    WHERE state IN ('starting','running','stopping');
  ALTER TABLE actions ADD COLUMN subsession_id TEXT;
  ALTER TABLE sessions ADD COLUMN full_context_due INTEGER NOT NULL DEFAULT 1;
  `,
];

const versionRow = z.strictObject({ user_version: z.number().int() });

/** Brings the database to this program's schema. Throws `state_from_newer_version` and changes nothing then. */
export function migrate(database: LedgerDatabase): void {
  if (readVersion(database) === MIGRATIONS.length) return;
  database.transaction(() => {
    const version = readVersion(database);
    if (version > MIGRATIONS.length) {
      throw new ReinsError(
        'state_from_newer_version',
        `state.db has schema version ${version} and this Reins knows ${MIGRATIONS.length}; update Reins or set REINS_STATE_DIR to another directory.`,
      );
    }
    for (const statements of MIGRATIONS.slice(version)) database.execute(statements);
    database.execute(`PRAGMA user_version=${MIGRATIONS.length}`);
  });
}

function readVersion(database: LedgerDatabase): number {
  return database.first(versionRow, 'PRAGMA user_version')?.user_version ?? 0;
}
