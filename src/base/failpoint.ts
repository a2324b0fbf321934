/** The moments of a write at which a crash test may end the process. */
export const FAILPOINTS = [
  'prepare-written',
  'prepare-synced',
  'temp-written',
  'temp-synced',
  'renamed',
  'directory-synced',
  'receipt-written',
  'receipt-synced',
  'reply-committed',
  'reply-released',
  'turn-stored',
  'lease-rotated',
] as const;
export type Failpoint = (typeof FAILPOINTS)[number];

let armed: Failpoint | undefined;

/** Arms one failpoint of this process. Only an entry point calls it, on the wish of whoever started it. */
export function armFailpoint(name: Failpoint | undefined): void {
  armed = name;
}

/** Ends this process as a power cut would, if this is the moment that was asked for. Costs one comparison. */
export function failpoint(name: Failpoint): void {
  if (armed === name) process.kill(process.pid, 'SIGKILL');
}
