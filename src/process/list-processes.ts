import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { parseLinuxStat, readBootId } from './linux-stat.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** A process as one look at the process table found it. */
export interface ProcessRecord extends ProcessIdentity {
  readonly parentPid: number;
  /** The session on Linux, the process group on macOS, whose `ps` prints no session. Its leader has it as its pid. */
  readonly sessionId: number;
  /** When it started, in the platform's own unit: good for comparing records of one machine, and for nothing else. */
  readonly startedAt: number;
  /**
   * The environment that it was started with, on macOS behind its command line. Empty for one that has none, is just
   * being replaced by another program, has ended or belongs to somebody else.
   */
  environment(): string;
}

const PS_TIMEOUT_MS = 5_000;
const PS_MAX_BYTES = 64 * 1024 * 1024;
const MAX_COMMAND_LENGTH = 200;
/** Four numbers and letters, a date of five words, and the rest. */
const PS_LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+((?:\S+\s+){4}\S+)\s?(.*)$/;

/** Every process that this user can see, without those that have ended and only wait to be reaped. */
export function listProcesses(): ProcessRecord[] {
  return process.platform === 'linux' ? listFromProc() : listFromPs();
}

/** The command line of a process, for people, cut short; its name where the line cannot be read. */
export function describeCommand(pid: number): string {
  const line =
    process.platform === 'linux'
      ? readProc(pid, 'cmdline').replaceAll('\0', ' ').trim() || readProc(pid, 'comm').trim()
      : ps(['-ww', '-o', 'command=', '-p', String(pid)]).trim();
  return line.slice(0, MAX_COMMAND_LENGTH);
}

function listFromProc(): ProcessRecord[] {
  const bootId = readBootId();
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid)) return [];
    const stat = parseLinuxStat(readProc(pid, 'stat'));
    if (stat === undefined || stat.hasEnded) return [];
    const { parentPid, sessionId, startTicks } = stat;
    return [
      {
        ...{ pid, birth: `${bootId}:${startTicks}`, parentPid, sessionId },
        startedAt: Number(startTicks),
        environment: () => readProc(pid, 'environ'),
      },
    ];
  });
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

function listFromPs(): ProcessRecord[] {
  return ps(['-axEwwo', 'pid=,ppid=,pgid=,stat=,lstart=,command='])
    .split('\n')
    .flatMap((line) => {
      const match = PS_LINE.exec(line);
      if (match === null) return [];
      const [, pid, parentPid, group, stat = '', started = '', command = ''] = match;
      if (stat.startsWith('Z')) return [];
      const birth = started.split(/\s+/).join(' ');
      return [
        {
          ...{ pid: Number(pid), birth, parentPid: Number(parentPid), sessionId: Number(group) },
          startedAt: Date.parse(birth),
          environment: () => command,
        },
      ];
    });
}

function ps(args: readonly string[]): string {
  try {
    return execFileSync('/bin/ps', [...args], {
      encoding: 'latin1',
      timeout: PS_TIMEOUT_MS,
      maxBuffer: PS_MAX_BYTES,
      env: { LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '';
  }
}
