import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** In the `flags` line of /proc/self/fdinfo, octal. */
const O_CLOEXEC = 0o2000000;

/**
 * Closes what this process has inherited beyond its three streams. Whoever started it may have left a descriptor of a
 * private file or socket open, and every child would get it in turn. Node marks the lowest of them to be closed in
 * children, as it does what it opens itself, and misses the rest; those are closed here. Linux alone; elsewhere the kernel does not tell which is which.
 */
export function closeInherited(): void {
  if (process.platform !== 'linux') return;
  for (const name of readdirSync('/proc/self/fd')) {
    const fd = Number(name);
    if (fd <= 2 || hasCloseOnExec(fd)) continue;
    try {
      closeSync(fd);
    } catch {
      // It was the descriptor of the listing itself.
    }
  }
}

function hasCloseOnExec(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'));
    return (Number.parseInt(flags?.[1] ?? '0', 8) & O_CLOEXEC) !== 0;
  } catch {
    return true;
  }
}
