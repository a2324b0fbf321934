import { mintTurnId, type RunId, type SessionId } from '../base/ids.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import { findSession, moveSession } from '../ledger/sessions.ts';
import { findLatestTurn, insertTurn, moveTurn, type NewTurn } from '../ledger/turns.ts';

/**
 * Makes a model request of Claude Code the session's pending turn. Durable when this returns. That it asks again means
 * that the answer to the turn before has arrived; a turn before that is still pending has lost its asker. Turns are full
 * until one of them has been answered, since one that nobody has seen tells nobody anything.
 */
export function presentTurn(
  database: LedgerDatabase,
  session: SessionId,
  request: Omit<NewTurn, 'id' | 'fullContext'> & { readonly runId: RunId },
  now: Date,
): NewTurn {
  const at = now.toISOString();
  return database.transaction(() => {
    const fullContext = findSession(database, session)?.fullContextDue ?? true;
    const turn: NewTurn = { ...request, fullContext, id: mintTurnId() };
    const previous = findLatestTurn(database, session);
    if (previous?.state === 'answered') moveTurn(database, previous, 'delivered');
    if (previous?.state === 'pending') {
      moveTurn(database, previous, 'asker_gone');
      appendEvent(database, session, 'turn_abandoned', { turn_id: previous.id }, at);
    }
    insertTurn(database, session, turn, at);
    moveSession(database, session, 'turn_presented');
    appendEvent(
      database,
      session,
      'turn_presented',
      { turn_id: turn.id, purpose: turn.purpose, request_sha256: turn.requestSha256 },
      at,
    );
    return turn;
  });
}
