import { escapeText } from '../../base/escape-text.ts';
import { openStateDirectory } from '../../base/state-directory.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import { listSessions, type SessionRecord } from '../../ledger/sessions.ts';
import { describeAge } from '../describe-age.ts';
import type { Environment } from '../environment.ts';
import { toSessionJson } from '../session-json.ts';
import { toJsonText } from '../to-json-text.ts';

/** `reins sessions` */
export function runSessions(
  environment: Environment,
  options: { readonly json?: true; readonly limit: number },
): void {
  const state = openStateDirectory(environment.stateDirectory);
  const sessions = listSessions(openLedger(state.database), options.limit);
  process.stdout.write(options.json ? toJsonText(sessions.map(toSessionJson)) : toTable(sessions));
}

function toTable(sessions: readonly SessionRecord[]): string {
  if (sessions.length === 0)
    return 'No sessions yet. "reins serve" or "reins stdio" lets a client start one.\n';
  const rows = sessions.map((session) => [
    session.id,
    session.status,
    session.profile,
    describeAge(session.updatedAt, new Date()),
    escapeText(session.label ?? session.workingDirectory),
  ]);
  const table = [['SESSION', 'STATUS', 'PROFILE', 'CHANGED', 'LABEL OR DIRECTORY'], ...rows];
  const widths = table.reduce<number[]>(
    (sizes, row) => row.map((cell, column) => Math.max(sizes[column] ?? 0, cell.length)),
    [],
  );
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}
