import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ACTION_EVENTS,
  ACTION_STATES,
  ACTION_TABLE,
  type ActionState,
} from '../../../src/machine/action-machine.ts';
import { RUN_EVENTS, RUN_STATES, RUN_TABLE } from '../../../src/machine/run-machine.ts';
import {
  SESSION_EVENTS,
  SESSION_STATUSES,
  SESSION_TABLE,
} from '../../../src/machine/session-machine.ts';
import {
  SUBSESSION_EVENTS,
  SUBSESSION_STATES,
  SUBSESSION_TABLE,
} from '../../../src/machine/subsession-machine.ts';
import {
  type Illegal,
  requireTransition,
  type TransitionTable,
  transition,
} from '../../../src/machine/transition-table.ts';
import { TURN_EVENTS, TURN_STATES, TURN_TABLE } from '../../../src/machine/turn-machine.ts';

/** What must hold, written down a second time and independently of the tables: `state event -> state`. */
const LEGAL = {
  turn: [
    'pending answered answered',
    'pending asker_gone abandoned',
    'answered delivered delivered',
  ],
  action: [
    'authorized prepared prepared',
    'authorized applied applied',
    'authorized failed failed',
    'authorized refused refused',
    'prepared applied applied',
    'prepared failed failed',
    'prepared lost_track unknown',
    'unknown applied applied',
    'unknown failed failed',
    'applied undo_prepared undoing',
    'undoing undone undone',
    'undoing undo_failed applied',
    'undoing lost_track unknown',
  ],
  run: [
    'queued started active',
    'queued failed failed',
    'active completed completed',
    'active failed failed',
  ],
  session: [
    ...['starting', 'running'].flatMap((from) => [
      `${from} turn_presented waiting_for_gpt`,
      `${from} run_completed completed`,
      `${from} run_failed failed`,
      `${from} runner_lost failed`,
      `${from} stop_requested stopping`,
      `${from} lease_ran_out lease_expired`,
    ]),
    'starting launch_failed failed',
    'waiting_for_gpt turn_presented waiting_for_gpt',
    'waiting_for_gpt reply_accepted running',
    'waiting_for_gpt run_failed failed',
    'waiting_for_gpt runner_lost failed',
    'waiting_for_gpt stop_requested stopping',
    'waiting_for_gpt lease_ran_out lease_expired',
    ...['completed', 'failed'].flatMap((from) => [
      `${from} prompt_queued starting`,
      `${from} stop_requested stopping`,
      `${from} lease_ran_out lease_expired`,
    ]),
    'stopping claude_ended stopped',
    'stopping runner_lost stopped',
    'stopped prompt_queued starting',
    'lease_expired prompt_queued starting',
  ],
  subsession: [
    'starting launched running',
    'running completed completed',
    ...['starting', 'running'].flatMap((from) => [
      `${from} failed failed`,
      `${from} stop_requested stopping`,
      `${from} runner_lost failed`,
    ]),
    'stopping ended stopped',
    'stopping runner_lost stopped',
  ],
} as const;

function listLegal<State extends string, Event extends string>(
  table: TransitionTable<State, Event>,
  states: readonly State[],
  events: readonly Event[],
): string[] {
  return states.flatMap((state) =>
    events.flatMap((event) => {
      const next = transition(table, state, event);
      return typeof next === 'string' ? [`${state} ${event} ${next}`] : [];
    }),
  );
}

test('the turn machine allows exactly what is written down', () => {
  expect(listLegal(TURN_TABLE, TURN_STATES, TURN_EVENTS).sort()).toEqual([...LEGAL.turn].sort());
});

test('N20 N21 the action machine allows exactly what is written down', () => {
  expect(listLegal(ACTION_TABLE, ACTION_STATES, ACTION_EVENTS).sort()).toEqual(
    [...LEGAL.action].sort(),
  );
});

test('the run machine allows exactly what is written down', () => {
  expect(listLegal(RUN_TABLE, RUN_STATES, RUN_EVENTS).sort()).toEqual([...LEGAL.run].sort());
});

test('N44 the session machine allows exactly what is written down', () => {
  expect(listLegal(SESSION_TABLE, SESSION_STATUSES, SESSION_EVENTS).sort()).toEqual(
    [...LEGAL.session].sort(),
  );
});

test('N34 the machine of a subagent allows exactly what is written down', () => {
  expect(listLegal(SUBSESSION_TABLE, SUBSESSION_STATES, SUBSESSION_EVENTS).sort()).toEqual(
    [...LEGAL.subsession].sort(),
  );
});

test('an illegal event says so and leaves the caller with nothing to commit', () => {
  expect(transition(TURN_TABLE, 'abandoned', 'answered')).toEqual({
    illegal: true,
    state: 'abandoned',
    event: 'answered',
  });
  expect(() => requireTransition(TURN_TABLE, 'delivered', 'answered')).toThrow(
    expect.objectContaining({ code: 'internal' }),
  );
});

test('N43 whatever happens to an action, it is carried out at most once', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...ACTION_EVENTS), { maxLength: 12 }), (events) => {
      let state: ActionState = 'authorized';
      let applied = 0;
      for (const event of events) {
        const next: ActionState | Illegal = transition(ACTION_TABLE, state, event);
        if (typeof next !== 'string') continue;
        const carriedOut = state === 'authorized' || state === 'prepared';
        if (carriedOut && next === 'applied') applied += 1;
        state = next;
      }
      expect(applied).toBeLessThanOrEqual(1);
    }),
  );
});

test('from every status a session can be brought to an end and continued', () => {
  for (const status of SESSION_STATUSES) {
    const reached = new Set<string>([status]);
    for (let grown = -1; grown !== reached.size; ) {
      grown = reached.size;
      for (const from of SESSION_STATUSES.filter((each) => reached.has(each))) {
        for (const next of Object.values(SESSION_TABLE[from])) reached.add(next);
      }
    }
    expect(reached).toContain('stopped');
    expect(reached).toContain('starting');
  }
});
