import { spawn } from 'node:child_process';
import type { Command } from './spawn-owned.ts';

/** What a detached process said before its parent let go of it. */
export type DetachedStart =
  | { readonly kind: 'ready'; readonly line: string }
  | { readonly kind: 'ended'; readonly exitCode: number | null; readonly signal: string | null }
  | { readonly kind: 'timeout' };

/** A ready line is short; more than this before a newline is not one. */
const MAX_LINE_BYTES = 4096;

/**
 * Starts a process that outlives this one: own session, no shared terminal, stderr discarded. `input` is written to
 * its stdin, which is then closed, so that nothing needs to be passed by arguments or environment. Resolves with the
 * first line that it prints; it must not print again, since the pipe is closed then.
 */
export function spawnDetached(
  command: Command,
  input: string,
  timeoutMs: number,
): Promise<DetachedStart> {
  const child = spawn(command.file, [...command.args], {
    cwd: command.cwd,
    env: { ...command.env },
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return new Promise((resolve) => {
    const settle = (start: DetachedStart): void => {
      clearTimeout(timer);
      child.stdout.destroy();
      child.unref();
      resolve(start);
    };
    const timer = setTimeout(() => settle({ kind: 'timeout' }), timeoutMs);
    let text = '';
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (chunk: string) => {
      text = (text + chunk).slice(0, MAX_LINE_BYTES);
      const end = text.indexOf('\n');
      if (end >= 0) settle({ kind: 'ready', line: text.slice(0, end) });
    });
    child.once('error', () => settle({ kind: 'ended', exitCode: null, signal: null }));
    child.once('exit', (exitCode, signal) => settle({ kind: 'ended', exitCode, signal }));
  });
}
