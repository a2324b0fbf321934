import type { SessionId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';
import { type ActionRecord, listActions } from './actions.ts';
import { readBlob } from './blobs.ts';
import type { LedgerDatabase } from './database.ts';
import { CHAIN_START, type EventRecord, hashEvent, listEvents } from './events.ts';
import { findSession } from './sessions.ts';
import { readSkills } from './skills.ts';
import { listTurns, type TurnRecord } from './turns.ts';

/** A record that is not what it was when it was written, and in which way. */
export interface LedgerFault {
  readonly session: SessionId;
  /** Position in the timeline, or 0 when the fault is elsewhere. */
  readonly sequence: number;
  readonly what: string;
}

/** Checks a chain of events by itself, as an export carries it. Names the first event that breaks it. */
export function verifyChain(
  session: SessionId,
  events: readonly EventRecord[],
): LedgerFault | undefined {
  let previousHash = CHAIN_START;
  for (const [position, event] of events.entries()) {
    const { sequence } = event;
    const fault = (what: string): LedgerFault => ({ session, sequence, what });
    if (sequence !== position + 1) {
      return fault(`event ${position + 1} is missing or events are out of order`);
    }
    if (event.previousHash !== previousHash) return fault('it does not follow the event before it');
    if (hashEvent(session, event) !== event.hash) return fault('its content was altered');
    previousHash = event.hash;
  }
  return undefined;
}

/**
 * Checks one session: the chain, its length against the session's revision, and everything that the events vouch for
 * by hash (replies, receipts, contents). Who can rewrite the whole chain and all that it vouches for is not found out.
 */
export function verifySession(database: LedgerDatabase, session: SessionId): LedgerFault[] {
  const events = listEvents(database, session);
  const broken = verifyChain(session, events);
  if (broken !== undefined) return [broken];
  const faults: LedgerFault[] = [];
  const revision = findSession(database, session)?.revision;
  if (revision !== events.length) {
    faults.push({
      session,
      sequence: events.length,
      what: `the session had ${revision} events and has ${events.length}; the last ones are missing`,
    });
  }
  const actions = new Map(listActions(database, session).map((action) => [action.id, action]));
  const turns = new Map(listTurns(database, session).map((turn) => [turn.id, turn]));
  for (const event of events) {
    const what = checkReferences(database, session, event, actions, turns);
    if (what !== undefined) faults.push({ session, sequence: event.sequence, what });
  }
  return faults;
}

function checkReferences(
  database: LedgerDatabase,
  session: SessionId,
  event: EventRecord,
  actions: ReadonlyMap<string, ActionRecord>,
  turns: ReadonlyMap<string, TurnRecord>,
): string | undefined {
  const { data } = event;
  if (event.kind === 'session_created') {
    try {
      readSkills(database, session, data);
    } catch (error) {
      if (!(error instanceof ReinsError)) throw error;
      return 'the instructions of its skills are missing or were altered';
    }
  }
  if (event.kind === 'reply_accepted') {
    const turn = turns.get(String(data['turn_id']));
    if (turn === undefined) return `turn ${data['turn_id']} is missing`;
    const actual = turn.replyText === null ? null : sha256(turn.replyText);
    if (actual !== data['text_sha256']) return `the reply to turn ${turn.id} was altered`;
  }
  if (event.kind === 'action_applied' || event.kind === 'action_failed') {
    const action = actions.get(String(data['action_id']));
    if (action === undefined) return `action ${data['action_id']} is missing`;
    const receipt = action.receipt === null ? null : sha256(action.receipt.text);
    const settledLater = action.state === 'undone' || action.state === 'undoing';
    if (receipt !== data['receipt_sha256'] && !settledLater) {
      return `the receipt of action ${action.id} was altered`;
    }
  }
  if (event.kind === 'action_prepared') {
    for (const name of ['before_sha256', 'after_sha256']) {
      const hash = data[name];
      if (typeof hash !== 'string') continue;
      const bytes = readBlob(database, hash);
      if (bytes === undefined)
        return `the content ${hash} of action ${data['action_id']} is missing`;
      if (sha256(bytes) !== hash)
        return `the content ${hash} of action ${data['action_id']} was altered`;
    }
  }
  return undefined;
}
