import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseLinuxStat, readBootId } from './linux-stat.ts';

/**
 * A process that stays recognisable: a pid is used again after its process has ended, the pair of pid and birth is
 * not. `birth` is opaque; on Linux it is the boot id and the start time in clock ticks, on macOS the start time that
 * `ps` prints, which has a resolution of one second.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly birth: string;
}

/** The identity of the process that has this pid now, or undefined when there is none (or only a zombie). */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const birth = process.platform === 'linux' ? readLinuxBirth(pid) : readPsBirth(pid);
  return birth === undefined ? undefined : { pid, birth };
}

/** Whether the very process that was identified earlier still runs. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.birth === identity.birth;
}

function readLinuxBirth(pid: number): string | undefined {
  try {
    const stat = parseLinuxStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    if (stat === undefined || stat.hasEnded) return undefined;
    return `${readBootId()}:${stat.startTicks}`;
  } catch {
    return undefined;
  }
}

function readPsBirth(pid: number): string | undefined {
  try {
    const line = execFileSync('/bin/ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      timeout: 5_000,
      env: { LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    const [stat = '', ...started] = line.split(/\s+/);
    return stat === '' || stat.startsWith('Z') ? undefined : started.join(' ');
  } catch {
    return undefined;
  }
}
