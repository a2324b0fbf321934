import type { SessionStatus } from '../machine/session-machine.ts';

/** Whether the session has nothing to do until its client calls again. */
export function isSettled(status: SessionStatus): boolean {
  switch (status) {
    case 'starting':
    case 'running':
    case 'stopping':
      return false;
    case 'waiting_for_gpt':
    case 'completed':
    case 'failed':
    case 'stopped':
    case 'lease_expired':
      return true;
  }
}
