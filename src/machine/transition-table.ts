import { ReinsError } from '../base/reins-error.ts';

/** What a machine answers to an event that its table does not allow in this state. */
export interface Illegal {
  readonly illegal: true;
  readonly state: string;
  readonly event: string;
}

/** For each state, the state that each allowed event leads to. An event that is not listed is illegal. */
export type TransitionTable<State extends string, Event extends string> = {
  readonly [From in State]: { readonly [On in Event]?: State };
};

/** Looks a transition up. Pure: the table is all there is to a machine. */
export function transition<State extends string, Event extends string>(
  table: TransitionTable<State, Event>,
  state: State,
  event: Event,
): State | Illegal {
  return table[state][event] ?? { illegal: true, state, event };
}

/**
 * The next state, for callers that have already ruled an illegal event out. Throws `internal`: what gets here is a
 * defect of Reins, and the transaction around it must not commit.
 */
export function requireTransition<State extends string, Event extends string>(
  table: TransitionTable<State, Event>,
  state: State,
  event: Event,
): State {
  const next = transition(table, state, event);
  if (typeof next === 'string') return next;
  throw new ReinsError(
    'internal',
    `The event ${event} is not allowed in state ${state}; nothing was changed. Please report this with the session's timeline.`,
  );
}
