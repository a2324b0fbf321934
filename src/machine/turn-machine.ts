import type { TransitionTable } from './transition-table.ts';

export const TURN_STATES = ['pending', 'answered', 'delivered', 'abandoned'] as const;
export type TurnState = (typeof TURN_STATES)[number];

export const TURN_EVENTS = ['answered', 'delivered', 'asker_gone'] as const;
export type TurnEvent = (typeof TURN_EVENTS)[number];

/** A turn is answered once, and only while the process that asked can still take the answer. */
export const TURN_TABLE: TransitionTable<TurnState, TurnEvent> = {
  pending: { answered: 'answered', asker_gone: 'abandoned' },
  answered: { delivered: 'delivered' },
  delivered: {},
  abandoned: {},
};
