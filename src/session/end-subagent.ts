import type { SessionId, SubsessionId } from '../base/ids.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import {
  findActiveSubsession,
  findSubsession,
  moveSubsession,
  type SubsessionOutcome,
  setSubsessionEnd,
} from '../ledger/subsessions.ts';
import { isOver, SUBSESSION_TABLE } from '../machine/subsession-machine.ts';
import { refuseOpenActions } from './refuse-open-actions.ts';

const NOT_CARRIED_OUT =
  'This call was authorised and not carried out, because the subagent ended first.';

/** How a subagent came to its end. */
export type SubagentEnd =
  | { readonly event: 'completed' }
  | { readonly event: 'failed' | 'ended'; readonly outcome: SubsessionOutcome };

/** Records that a subagent is to end, before anything is done about it. Does nothing for one that ends already. */
export function requestSubagentStop(
  database: LedgerDatabase,
  session: SessionId,
  id: SubsessionId,
  now: Date,
): void {
  database.transaction(() => {
    const subsession = findSubsession(database, session, id);
    if (subsession === undefined) return;
    if (SUBSESSION_TABLE[subsession.state].stop_requested === undefined) return;
    moveSubsession(database, subsession, 'stop_requested');
    appendEvent(database, session, 'subagent_stopping', { subsession_id: id }, now.toISOString());
  });
}

/**
 * Records the end of a subagent whose processes have ended and whose executor is at rest: from now on the session's
 * files belong to its client again. A stop that was asked for is what it ended by, whatever came after it.
 */
export function endSubagent(
  database: LedgerDatabase,
  session: SessionId,
  id: SubsessionId,
  end: SubagentEnd,
  now: Date,
): void {
  const at = now.toISOString();
  database.transaction(() => {
    // That it was to stop may not have reached the ledger before.
    if (end.event === 'ended') requestSubagentStop(database, session, id, now);
    const subsession = findSubsession(database, session, id);
    if (subsession === undefined || isOver(subsession.state)) return;
    const event = subsession.state === 'stopping' ? 'ended' : end.event;
    refuseOpenActions(database, session, id, NOT_CARRIED_OUT, at);
    moveSubsession(database, subsession, event);
    setSubsessionEnd(database, id, end.event === 'completed' ? null : end.outcome, at);
    appendEnd(database, session, id, at);
  });
}

/** The process that ran the session's subagent is gone, and the subagent with it. */
export function loseSubagent(database: LedgerDatabase, session: SessionId, at: string): void {
  const subsession = findActiveSubsession(database, session);
  if (subsession === undefined) return;
  refuseOpenActions(database, session, subsession.id, NOT_CARRIED_OUT, at);
  moveSubsession(database, subsession, 'runner_lost');
  const message =
    'The process that ran the session ended while the subagent worked; start another one for what is left of the task.';
  setSubsessionEnd(database, subsession.id, { code: 'runner_lost', message }, at);
  appendEnd(database, session, subsession.id, at);
}

function appendEnd(
  database: LedgerDatabase,
  session: SessionId,
  id: SubsessionId,
  at: string,
): void {
  const ended = findSubsession(database, session, id);
  if (ended === undefined) return;
  appendEvent(
    database,
    session,
    'subagent_ended',
    {
      subsession_id: id,
      state: ended.state,
      turns: ended.turns,
      input_tokens: ended.inputTokens,
      output_tokens: ended.outputTokens,
      ...(ended.outcome === null ? {} : { outcome: { ...ended.outcome } }),
    },
    at,
  );
}
