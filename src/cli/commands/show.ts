import { escapeText } from '../../base/escape-text.ts';
import { ReinsError } from '../../base/reins-error.ts';
import { createSessionTokens } from '../../base/session-tokens.ts';
import { openStateDirectory, readOrCreateSecret } from '../../base/state-directory.ts';
import type { LedgerDatabase } from '../../ledger/database.ts';
import { listEvents } from '../../ledger/events.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import { listSessions, type SessionRecord } from '../../ledger/sessions.ts';
import type { Environment } from '../environment.ts';
import { describeTerminal } from '../terminal.ts';
import { describeEvents } from '../timeline/describe-event.ts';
import { formatEntry } from '../timeline/format-entry.ts';

/** As many sessions as an abbreviated id is looked up among. */
const MAX_SESSIONS = 10_000;

/** `reins show ID` */
export function runShow(
  environment: Environment,
  id: string,
  options: { readonly json?: true; readonly resumeText?: true },
): void {
  const state = openStateDirectory(environment.stateDirectory);
  const database = openLedger(state.database);
  const session = findByPrefix(database, id);
  if (options.resumeText) {
    const tokens = createSessionTokens(readOrCreateSecret(state.secretFile));
    process.stdout.write(resumeText(session, tokens.recoveryToken(session.id)));
    return;
  }
  const events = listEvents(database, session.id);
  const entries = describeEvents(database, session, events);
  if (options.json) {
    process.stdout.write(
      `${JSON.stringify({ session: toJson(session), timeline: entries }, null, 2)}\n`,
    );
    return;
  }
  const terminal = describeTerminal(process.stdout, process.env);
  const lines = entries.map((entry) => formatEntry(entry, terminal));
  process.stdout.write(`${describeHead(session)}\n\n${lines.join('\n')}\n`);
}

function findByPrefix(database: LedgerDatabase, id: string): SessionRecord {
  const matching = listSessions(database, MAX_SESSIONS).filter((session) =>
    session.id.startsWith(id),
  );
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  throw new ReinsError(
    'session_unknown',
    matching.length === 0
      ? `There is no session ${escapeText(id)}; "reins sessions" lists them.`
      : `${escapeText(id)} is the start of ${matching.length} session ids; type more of it.`,
  );
}

function describeHead(session: SessionRecord): string {
  const label = session.label === null ? '' : `  "${escapeText(session.label)}"`;
  return `${session.id}  ${session.status}  ${session.profile}${label}\n${escapeText(session.workingDirectory)}`;
}

function toJson(session: SessionRecord): object {
  const { runner, ...rest } = session;
  return { ...rest, runtimeAttached: runner !== null };
}

function resumeText(session: SessionRecord, token: string): string {
  return `Go on with the Reins session ${session.id}: call native_session_recover with native_session_id "${session.id}", recovery_token "${token}" and a new recovery_id, then answer its pending turn.\n`;
}
