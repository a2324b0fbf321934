import type { TransitionTable } from './transition-table.ts';

export const SESSION_STATUSES = [
  'starting',
  'running',
  'waiting_for_gpt',
  'completed',
  'failed',
  'stopping',
  'stopped',
  'lease_expired',
] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export const SESSION_EVENTS = [
  'turn_presented',
  'reply_accepted',
  'run_completed',
  'run_failed',
  'prompt_queued',
  'launch_failed',
  'runner_lost',
  'stop_requested',
  'claude_ended',
  'lease_ran_out',
] as const;
export type SessionEvent = (typeof SESSION_EVENTS)[number];

/**
 * The life of a session. Everything that ended can be continued with a new prompt, because the conversation is
 * saved; `prompt_queued` leads to `starting`, where a runner takes the prompt up.
 */
export const SESSION_TABLE: TransitionTable<SessionStatus, SessionEvent> = {
  starting: {
    turn_presented: 'waiting_for_gpt',
    run_completed: 'completed',
    run_failed: 'failed',
    launch_failed: 'failed',
    runner_lost: 'failed',
    stop_requested: 'stopping',
    lease_ran_out: 'lease_expired',
  },
  running: {
    turn_presented: 'waiting_for_gpt',
    run_completed: 'completed',
    run_failed: 'failed',
    runner_lost: 'failed',
    stop_requested: 'stopping',
    lease_ran_out: 'lease_expired',
  },
  waiting_for_gpt: {
    turn_presented: 'waiting_for_gpt',
    reply_accepted: 'running',
    run_failed: 'failed',
    runner_lost: 'failed',
    stop_requested: 'stopping',
    lease_ran_out: 'lease_expired',
  },
  completed: {
    prompt_queued: 'starting',
    stop_requested: 'stopping',
    lease_ran_out: 'lease_expired',
  },
  failed: {
    prompt_queued: 'starting',
    stop_requested: 'stopping',
    lease_ran_out: 'lease_expired',
  },
  stopping: { claude_ended: 'stopped', runner_lost: 'stopped' },
  stopped: { prompt_queued: 'starting' },
  lease_expired: { prompt_queued: 'starting' },
};
