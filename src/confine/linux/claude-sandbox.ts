import type { ClaudePlaces } from '../claude-places.ts';
import type { Sandbox } from './bubblewrap.ts';
import { systemMounts } from './system-mounts.ts';

/** As Claude Code sees its places: the same in every session, and telling nothing of this computer. */
export const CLAUDE_INSIDE: ClaudePlaces = {
  executable: '/reins/claude-code',
  home: '/reins/home',
  configDirectory: '/reins/config',
  runtimeDirectory: '/reins/runtime',
  modelSocket: '/reins/model.sock',
  executorRequests: '/reins/executor-requests',
  executorAnswers: '/reins/executor-answers',
};

/** Scratch space of Claude Code, in memory. */
const MAX_TEMPORARY_BYTES = 256 * 1024 * 1024;

/**
 * Claude Code's own process: it has no tool that needs a file of this computer, so it sees the system's programs and
 * its own three directories, and nothing else. Without a network, one socket and two pipes are all that leads out.
 */
export function toClaudeSandbox(
  outside: ClaudePlaces,
  program: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> },
): Sandbox {
  const inside = CLAUDE_INSIDE;
  return {
    mounts: [
      ...systemMounts(),
      { kind: 'empty', target: '/tmp', maxBytes: MAX_TEMPORARY_BYTES },
      { kind: 'read_only', source: outside.executable, target: inside.executable },
      { kind: 'writable', source: outside.home, target: inside.home },
      { kind: 'writable', source: outside.configDirectory, target: inside.configDirectory },
      { kind: 'writable', source: outside.runtimeDirectory, target: inside.runtimeDirectory },
      { kind: 'writable', source: outside.modelSocket, target: inside.modelSocket },
      { kind: 'writable', source: outside.executorRequests, target: inside.executorRequests },
      { kind: 'writable', source: outside.executorAnswers, target: inside.executorAnswers },
      { kind: 'seal', target: '/' },
    ],
    seccomp: { unixSockets: true },
    cwd: inside.runtimeDirectory,
    env: program.env,
    argv: [inside.executable, ...program.args],
    firstProcess: true,
  };
}
