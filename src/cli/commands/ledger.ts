import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { isSessionId, type SessionId } from '../../base/ids.ts';
import { parseJson } from '../../base/parse-json.ts';
import { ReinsError } from '../../base/reins-error.ts';
import { openStateDirectory } from '../../base/state-directory.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import { EVENT_KINDS, type EventRecord, listEvents } from '../../ledger/events.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import { listSessions } from '../../ledger/sessions.ts';
import { type LedgerFault, verifyChain, verifySession } from '../../ledger/verify.ts';
import type { Environment } from '../environment.ts';
import { findSessionByPrefix } from '../find-session.ts';
import { toJsonText } from '../to-json-text.ts';

const FORMAT = 'reins-timeline-1';
const MAX_SESSIONS = 100_000;

const headSchema = z.strictObject({
  format: z.literal(FORMAT),
  native_session_id: z.custom<SessionId>(isSessionId),
  events: z.int().nonnegative(),
  last_hash: z.string(),
});
const eventSchema = z.strictObject({
  sequence: z.int(),
  at: z.string(),
  kind: z.enum(EVENT_KINDS),
  data: z.record(z.string(), z.json()),
  previousHash: z.string(),
  hash: z.string(),
});

/** `reins ledger export SESSION`: one line that says what follows, then one event a line. */
export function runLedgerExport(environment: Environment, sessionId: string): void {
  const database = openLedger(openStateDirectory(environment.stateDirectory).database);
  const session = findSessionByPrefix(database, sessionId);
  const events = listEvents(database, session.id);
  const head = {
    format: FORMAT,
    native_session_id: session.id,
    events: events.length,
    last_hash: events.at(-1)?.hash ?? '',
  };
  for (const line of [head, ...events]) process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** `reins ledger verify [SESSION] [--file EXPORT]`. Throws `ledger_broken` when a record is not what it was. */
export function runLedgerVerify(
  environment: Environment,
  sessionId: string | undefined,
  options: { readonly file?: string; readonly json?: true },
): void {
  const checked =
    options.file === undefined ? verifyDatabase(environment, sessionId) : verifyFile(options.file);
  if (options.json) process.stdout.write(toJsonText(checked));
  const [first] = checked.faults;
  if (first !== undefined) {
    throw new ReinsError(
      'ledger_broken',
      `Event ${first.sequence} of session ${first.session} does not verify (${first.what}); ${checked.faults.length} such records were found, and a backup from before tells what they were.`,
    );
  }
  if (!options.json) {
    process.stdout.write(`${checked.events} events of ${checked.sessions} sessions verify.\n`);
  }
}

interface Checked {
  readonly sessions: number;
  readonly events: number;
  readonly faults: readonly LedgerFault[];
}

function verifyDatabase(environment: Environment, sessionId: string | undefined): Checked {
  const database = openLedger(openStateDirectory(environment.stateDirectory).database);
  const sessions =
    sessionId === undefined
      ? listSessions(database, MAX_SESSIONS)
      : [findSessionByPrefix(database, sessionId)];
  return {
    sessions: sessions.length,
    events: sessions.reduce((sum, session) => sum + session.revision, 0),
    faults: sessions.flatMap((session) => verifySession(database, session.id)),
  };
}

function verifyFile(path: string): Checked {
  const [first = '', ...rest] = readExport(path).trimEnd().split('\n');
  const head = headSchema.safeParse(parseJson(first));
  if (!head.success) throw notAnExport(path, 1);
  const { native_session_id: session, events: count, last_hash: lastHash } = head.data;
  const events = rest.map((line, position): EventRecord => {
    const event = eventSchema.safeParse(parseJson(line));
    if (!event.success) throw notAnExport(path, position + 2);
    return event.data;
  });
  const broken = verifyChain(session, events);
  const complete = events.length === count && (events.at(-1)?.hash ?? '') === lastHash;
  const missing = { session, sequence: events.length, what: `${count} events were exported` };
  const faults = broken !== undefined ? [broken] : complete ? [] : [missing];
  return { sessions: 1, events: events.length, faults };
}

function readExport(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ReinsError(
      'invalid_parameter',
      `--file ${path} cannot be read (${systemErrorCode(error) ?? 'unknown reason'}); name a file that "reins ledger export" wrote.`,
    );
  }
}

function notAnExport(path: string, line: number): ReinsError {
  return new ReinsError(
    'ledger_broken',
    `Line ${line} of ${path} is not what "reins ledger export" writes; export the session again.`,
  );
}
