import { readFileSync } from 'node:fs';

export interface LinuxStat {
  /** It only waits to be reaped. A process whose first thread alone has ended still runs. */
  readonly hasEnded: boolean;
  readonly parentPid: number;
  readonly sessionId: number;
  /** Start in clock ticks since the boot. */
  readonly startTicks: string;
}

/** Reads a line of /proc/PID/stat. Total: anything else gives undefined. */
export function parseLinuxStat(line: string): LinuxStat | undefined {
  // The command name is in parentheses and may contain anything; fields are counted from behind it.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [state = ''] = fields;
  const threads = Number(fields[17]);
  const startTicks = fields[19];
  if (startTicks === undefined) return undefined;
  return {
    hasEnded: state === 'X' || (state === 'Z' && threads <= 1),
    parentPid: Number(fields[1]),
    sessionId: Number(fields[3]),
    startTicks,
  };
}

/** Tells start times of one boot from those of another. */
export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}
