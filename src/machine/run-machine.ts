import type { TransitionTable } from './transition-table.ts';

export const RUN_STATES = ['queued', 'active', 'completed', 'failed'] as const;
export type RunState = (typeof RUN_STATES)[number];

export const RUN_EVENTS = ['started', 'completed', 'failed'] as const;
export type RunEvent = (typeof RUN_EVENTS)[number];

/** A run is one prompt: queued durably, handed to Claude Code once, ended once. */
export const RUN_TABLE: TransitionTable<RunState, RunEvent> = {
  queued: { started: 'active', failed: 'failed' },
  active: { completed: 'completed', failed: 'failed' },
  completed: {},
  failed: {},
};
