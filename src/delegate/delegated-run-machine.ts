import type { TransitionTable } from '../machine/transition-table.ts';

export const DELEGATED_RUN_STATES = [
  'starting',
  'running',
  'completed',
  'failed',
  'cancelled',
  'timed_out',
] as const;
export type DelegatedRunState = (typeof DELEGATED_RUN_STATES)[number];

export const DELEGATED_RUN_EVENTS = [
  'claude_started',
  'succeeded',
  'failed',
  'cancelled',
  'timed_out',
] as const;
export type DelegatedRunEvent = (typeof DELEGATED_RUN_EVENTS)[number];

/** A run starts, runs and is settled once. What it never reached `running` for can still be cancelled or late. */
export const DELEGATED_RUN_TABLE: TransitionTable<DelegatedRunState, DelegatedRunEvent> = {
  starting: {
    claude_started: 'running',
    failed: 'failed',
    cancelled: 'cancelled',
    timed_out: 'timed_out',
  },
  running: {
    succeeded: 'completed',
    failed: 'failed',
    cancelled: 'cancelled',
    timed_out: 'timed_out',
  },
  completed: {},
  failed: {},
  cancelled: {},
  timed_out: {},
};
