import { lstatSync, readlinkSync } from 'node:fs';
import type { ClaudePlaces } from '../claude-places.ts';
import type { Mount, Sandbox } from './bubblewrap.ts';

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
/** What of the root directory holds programs and libraries. */
const SYSTEM_PARTS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

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
      { kind: 'proc', target: '/proc' },
      { kind: 'devices', target: '/dev' },
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

/** The parts of a system that programs are started from, each as it is here: a directory or a link into /usr. */
export function systemMounts(): Mount[] {
  const roots = SYSTEM_PARTS.flatMap((name): Mount[] => {
    const target = `/${name}`;
    const stat = lstatSync(target, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    return stat.isSymbolicLink()
      ? [{ kind: 'link', source: readlinkSync(target), target }]
      : [{ kind: 'read_only', source: target, target }];
  });
  const whole = ['/usr', '/nix/store', '/etc/localtime', '/etc/ld.so.cache'].filter(
    (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  );
  return [
    ...whole.map((path): Mount => ({ kind: 'read_only', source: path, target: path })),
    ...roots,
  ];
}
