import type { SessionId } from '../base/ids.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import type { ProcessRecord } from '../ledger/sessions.ts';
import {
  findSubsession,
  insertSubsession,
  moveSubsession,
  type NewSubsession,
  setSubsessionClaude,
} from '../ledger/subsessions.ts';

/** N31: makes a subagent durable, inside the transaction that ends the action by which it was asked for. */
export function recordSubagentStart(
  database: LedgerDatabase,
  subsession: NewSubsession,
  at: string,
): void {
  insertSubsession(database, subsession, at);
  appendEvent(
    database,
    subsession.sessionId,
    'subagent_started',
    {
      subsession_id: subsession.id,
      action_id: subsession.actionId,
      model_class: subsession.modelClass,
      model: subsession.model,
      max_turns: subsession.maxTurns,
      deadline: subsession.deadline,
    },
    at,
  );
}

/** Its Claude Code runs: from now on somebody else can find and end it. */
export function recordSubagentLaunch(
  database: LedgerDatabase,
  session: SessionId,
  id: NewSubsession['id'],
  claude: ProcessRecord | undefined,
  now: Date,
): void {
  database.transaction(() => {
    const subsession = findSubsession(database, session, id);
    if (subsession === undefined) return;
    moveSubsession(database, subsession, 'launched');
    if (claude !== undefined) setSubsessionClaude(database, id, claude);
    appendEvent(database, session, 'subagent_launched', { subsession_id: id }, now.toISOString());
  });
}
