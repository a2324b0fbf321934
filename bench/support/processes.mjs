import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Processes whose command line or environment names `text`, without this one: `{ pid, command }`. */
export function findProcesses(text) {
  const all = process.platform === 'linux' ? listFromProc() : listFromPs();
  return all.filter((entry) => entry.pid !== process.pid && entry.searched.includes(text));
}

/** Resident memory of a process in megabytes, of a million bytes each. */
export function residentMegabytes(pid) {
  return (readResidentKib(pid) * 1024) / 1e6;
}

function readResidentKib(pid) {
  if (process.platform === 'linux') {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  }
  return Number(execFileSync('/bin/ps', ['-o', 'rss=', '-p', String(pid)], { env: {} }));
}

function listFromProc() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
        const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
        return [{ pid: Number(pid), command, searched: command + environment }];
      } catch {
        return []; // It ended meanwhile, or belongs to somebody else.
      }
    });
}

function listFromPs() {
  return execFileSync('/bin/ps', ['-axEwwo', 'pid=,command='], { encoding: 'utf8', env: {} })
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ pid: Number.parseInt(line, 10), command: line, searched: line }));
}
