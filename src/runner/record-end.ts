import type { RunnerId, SessionId } from '../base/ids.ts';
import type { LaunchErrorCode } from '../base/reins-error.ts';
import { unreachable } from '../base/unreachable.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { expireLease, failLaunch, finishStop, loseClaude } from '../session/end-session.ts';
import { requireSession } from '../session/require-session.ts';

/** Why a runner ends. The first cause wins; what comes after it is a consequence. */
export type EndCause =
  | { readonly kind: 'stop_requested' }
  | { readonly kind: 'lease_ran_out' }
  | { readonly kind: 'launch_failed'; readonly code: LaunchErrorCode; readonly message: string }
  | { readonly kind: 'claude_exited'; readonly how: string }
  | { readonly kind: 'terminated'; readonly by: string };

/** Writes into the ledger how the session's processes came to their end. */
export function recordEnd(
  database: LedgerDatabase,
  session: SessionId,
  runner: RunnerId,
  cause: EndCause,
  now: Date,
): void {
  const { status } = requireSession(database, session);
  const starting = status === 'starting';
  if (status === 'stopping') {
    // Whatever ended the processes: the client has asked for it, and gets what it asked for.
    finishStop(database, session, runner, now);
    return;
  }
  switch (cause.kind) {
    case 'stop_requested':
      finishStop(database, session, runner, now);
      break;
    case 'lease_ran_out':
      expireLease(database, session, runner, now);
      break;
    case 'launch_failed': {
      const { code, message } = cause;
      if (starting) failLaunch(database, session, runner, { code, message }, now);
      else loseClaude(database, session, runner, `was ended, because ${message}`, now);
      break;
    }
    case 'claude_exited': {
      const message = `Claude Code ${cause.how} before it asked its first question; see that the binary at CLAUDE_BIN or on PATH runs by itself.`;
      if (starting) failLaunch(database, session, runner, { code: 'claude_exited', message }, now);
      else loseClaude(database, session, runner, cause.how, now);
      break;
    }
    case 'terminated':
      loseClaude(database, session, runner, `was ended by ${cause.by}`, now);
      break;
    default:
      unreachable(cause);
  }
}
