import { existsSync } from 'node:fs';
import { unreachable } from '../../base/unreachable.ts';
import type { Command } from '../../process/spawn-owned.ts';
import type { LinuxTools } from './linux-tools.ts';
import { isAtLeast } from './linux-tools.ts';
import { buildSeccompFilter, type SeccompOptions } from './seccomp-filter.ts';

/** One thing that a sandbox shows at a place of its own. */
export type Mount =
  | { readonly kind: 'read_only' | 'writable'; readonly source: string; readonly target: string }
  | { readonly kind: 'empty'; readonly target: string; readonly maxBytes: number }
  | { readonly kind: 'link'; readonly source: string; readonly target: string }
  | { readonly kind: 'text'; readonly text: string; readonly target: string }
  | { readonly kind: 'proc' | 'devices'; readonly target: string }
  /** Makes what was mounted at `target` unwritable; comes after everything that is mounted below it. */
  | { readonly kind: 'seal'; readonly target: string };

/** A place of this computer that is shown where it is, unwritable. */
export function readOnly(path: string): Mount {
  return { kind: 'read_only', source: path, target: path };
}

export interface Sandbox {
  readonly mounts: readonly Mount[];
  readonly seccomp: SeccompOptions;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The program to run and its arguments, as the sandbox sees them. */
  readonly argv: readonly string[];
  /** Whether that program is to be the first process in there, so that signals from outside reach it. */
  readonly firstProcess: boolean;
}

/** Descriptors of the child: the arguments, what bwrap reports, the filter, then the text files. */
const ARGUMENTS_FD = 3;
const FILTER_FD = 5;
/** Where bwrap writes the pid of the sandbox's first process, as JSON, and later its exit code. */
export const REPORT_FD = 4;
const FIRST_TEXT_FD = 6;

/**
 * The command that starts a sandbox: namespaces of its own for users, processes, network, IPC and host name, no
 * capability, no new privilege, ended with its parent. bwrap gets the very environment that is meant for the program,
 * since the program can read bwrap's; its arguments come by a descriptor for the same reason.
 */
export function toBubblewrapCommand(tools: LinuxTools, sandbox: Sandbox): Command {
  const texts = sandbox.mounts.flatMap((mount) => (mount.kind === 'text' ? [mount.text] : []));
  const options = [
    ...NAMESPACES,
    ...(isAtLeast(tools.bwrapVersion, [0, 8, 0]) ? ['--disable-userns'] : []),
    '--uid',
    String(process.getuid?.() ?? 0),
    '--gid',
    String(process.getgid?.() ?? 0),
    '--cap-drop',
    'ALL',
    '--die-with-parent',
    '--new-session',
    ...(sandbox.firstProcess ? ['--as-pid-1'] : []),
    ...toMountOptions(tools, sandbox.mounts),
    '--chdir',
    sandbox.cwd,
    '--seccomp',
    String(FILTER_FD),
    '--json-status-fd',
    String(REPORT_FD),
  ];
  return {
    file: tools.bwrap,
    args: ['--args', String(ARGUMENTS_FD), '--', ...sandbox.argv],
    cwd: '/',
    env: sandbox.env,
    inputs: [
      options.map((option) => `${option}\0`).join(''),
      '',
      buildSeccompFilter(tools.architecture, sandbox.seccomp),
      ...texts,
    ],
  };
}

/** Shared memory that the programs of one sandbox may have. */
const MAX_SHARED_BYTES = 1024 * 1024 * 1024;

/** Files of the kernel outside of any process: uid 0 may write to some of them without any capability. */
const KERNEL_FILES = ['sys', 'sysrq-trigger', 'mtrr', 'pressure', 'acpi', 'scsi', 'fs', 'driver'];

const NAMESPACES = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
];

function toMountOptions(tools: LinuxTools, mounts: readonly Mount[]): string[] {
  let textFd = FIRST_TEXT_FD;
  return mounts.flatMap((mount): string[] => {
    switch (mount.kind) {
      case 'read_only':
        return ['--ro-bind', mount.source, mount.target];
      case 'writable':
        return ['--bind', mount.source, mount.target];
      case 'empty':
        return [...sized(tools, mount.maxBytes), '--tmpfs', mount.target];
      case 'link':
        return ['--symlink', mount.source, mount.target];
      case 'text':
        textFd += 1;
        return ['--ro-bind-data', String(textFd - 1), mount.target];
      case 'proc':
        return ['--proc', mount.target, ...closeKernelFiles(mount.target)];
      case 'devices':
        return [
          ...['--dev', mount.target],
          ...sized(tools, MAX_SHARED_BYTES),
          ...['--tmpfs', `${mount.target}/shm`, '--remount-ro', mount.target],
        ];
      case 'seal':
        return ['--remount-ro', mount.target];
      default:
        return unreachable(mount);
    }
  });
}

/** bwrap itself closes only what it finds writable as a directory, which none of these is. */
function closeKernelFiles(target: string): string[] {
  return KERNEL_FILES.filter((name) => existsSync(`/proc/${name}`)).flatMap((name) => [
    '--ro-bind',
    `/proc/${name}`,
    `${target}/${name}`,
  ]);
}

function sized(tools: LinuxTools, maxBytes: number): string[] {
  return isAtLeast(tools.bwrapVersion, [0, 8, 0]) ? ['--size', String(maxBytes)] : [];
}
