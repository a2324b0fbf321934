import type { TransitionTable } from './transition-table.ts';

export const SUBSESSION_STATES = [
  'starting',
  'running',
  'stopping',
  'completed',
  'failed',
  'stopped',
] as const;
export type SubsessionState = (typeof SUBSESSION_STATES)[number];

export const SUBSESSION_EVENTS = [
  'launched',
  'completed',
  'failed',
  'stop_requested',
  'ended',
  'runner_lost',
] as const;
export type SubsessionEvent = (typeof SUBSESSION_EVENTS)[number];

/** A subtask is done once, by one process, and never taken up again: whatever ends it ends it for good. */
export const SUBSESSION_TABLE: TransitionTable<SubsessionState, SubsessionEvent> = {
  starting: {
    launched: 'running',
    failed: 'failed',
    stop_requested: 'stopping',
    runner_lost: 'failed',
  },
  running: {
    completed: 'completed',
    failed: 'failed',
    stop_requested: 'stopping',
    runner_lost: 'failed',
  },
  stopping: { ended: 'stopped', runner_lost: 'stopped' },
  completed: {},
  failed: {},
  stopped: {},
};

/** Whether nothing can happen to it any more. */
export function isOver(state: SubsessionState): boolean {
  return Object.keys(SUBSESSION_TABLE[state]).length === 0;
}
