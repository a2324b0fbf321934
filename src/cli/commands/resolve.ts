import { ReinsError } from '../../base/reins-error.ts';
import { openStateDirectory } from '../../base/state-directory.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import { resolveAction } from '../../session/resolve-action.ts';
import type { Environment } from '../environment.ts';
import { findSessionByPrefix } from '../find-session.ts';

/** `reins resolve SESSION ACTION --as applied|not-applied` */
export function runResolve(
  environment: Environment,
  sessionId: string,
  actionId: string,
  options: { readonly as?: string; readonly json?: true },
): void {
  const verdict = options.as;
  if (verdict !== 'applied' && verdict !== 'not-applied') {
    throw new ReinsError(
      'invalid_parameter',
      '--as has to be "applied" or "not-applied"; look at the file and say which of the two it is.',
    );
  }
  const database = openLedger(openStateDirectory(environment.stateDirectory).database);
  const session = findSessionByPrefix(database, sessionId);
  resolveAction(database, session.id, actionId, verdict === 'applied', new Date());
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ action_id: actionId, resolved_as: verdict })}\n`
      : `Action ${actionId} is settled as ${verdict}. The session can be continued.\n`,
  );
}
