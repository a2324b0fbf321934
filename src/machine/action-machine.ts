import type { TransitionTable } from './transition-table.ts';

export const ACTION_STATES = [
  'authorized',
  'prepared',
  'applied',
  'failed',
  'refused',
  'unknown',
  'undoing',
  'undone',
] as const;
export type ActionState = (typeof ACTION_STATES)[number];

export const ACTION_EVENTS = [
  'prepared',
  'applied',
  'failed',
  'refused',
  'lost_track',
  'undo_prepared',
  'undone',
  'undo_failed',
] as const;
export type ActionEvent = (typeof ACTION_EVENTS)[number];

/**
 * An action that changes a file is prepared before it is applied; one that only reads goes straight from
 * `authorized` to its end. `unknown` is left by a person's decision alone. Undoing is prepared in the same way.
 */
export const ACTION_TABLE: TransitionTable<ActionState, ActionEvent> = {
  authorized: { prepared: 'prepared', applied: 'applied', failed: 'failed', refused: 'refused' },
  prepared: { applied: 'applied', failed: 'failed', lost_track: 'unknown' },
  applied: { undo_prepared: 'undoing' },
  failed: {},
  refused: {},
  unknown: { applied: 'applied', failed: 'failed' },
  undoing: { undone: 'undone', undo_failed: 'applied', lost_track: 'unknown' },
  undone: {},
};
