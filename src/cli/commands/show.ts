import { escapeText } from '../../base/escape-text.ts';
import { createSessionTokens } from '../../base/session-tokens.ts';
import { openStateDirectory, readOrCreateSecret } from '../../base/state-directory.ts';
import { listEvents } from '../../ledger/events.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import type { SessionRecord } from '../../ledger/sessions.ts';
import type { Environment } from '../environment.ts';
import { findSessionByPrefix } from '../find-session.ts';
import { toSessionJson } from '../session-json.ts';
import { describeTerminal } from '../terminal.ts';
import { describeEvents } from '../timeline/describe-event.ts';
import { formatEntry } from '../timeline/format-entry.ts';
import { toJsonText } from '../to-json-text.ts';

/** `reins show ID` */
export function runShow(
  environment: Environment,
  id: string,
  options: { readonly json?: true; readonly resumeText?: true },
): void {
  const state = openStateDirectory(environment.stateDirectory);
  const database = openLedger(state.database);
  const session = findSessionByPrefix(database, id);
  if (options.resumeText) {
    const tokens = createSessionTokens(readOrCreateSecret(state.secretFile));
    process.stdout.write(resumeText(session, tokens.recoveryToken(session.id)));
    return;
  }
  const events = listEvents(database, session.id);
  const entries = describeEvents(database, session, events);
  if (options.json) {
    process.stdout.write(toJsonText({ session: toSessionJson(session), timeline: entries }));
    return;
  }
  const terminal = describeTerminal(process.stdout, process.env);
  const lines = entries.map((entry) => formatEntry(entry, terminal));
  process.stdout.write(`${describeHead(session)}\n\n${lines.join('\n')}\n`);
}

function describeHead(session: SessionRecord): string {
  const label = session.label === null ? '' : `  "${escapeText(session.label)}"`;
  return `${session.id}  ${session.status}  ${session.profile}${label}\n${escapeText(session.workingDirectory)}`;
}

function resumeText(session: SessionRecord, token: string): string {
  return `Go on with the Reins session ${session.id}: call native_session_recover with native_session_id "${session.id}", recovery_token "${token}" and a new recovery_id, then answer its pending turn.\n`;
}
