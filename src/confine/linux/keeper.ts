import { release } from 'node:os';
import type { Command } from '../../process/spawn-owned.ts';
import { MAX_PROCESSES } from '../command-request.ts';
import { findSystemProgram } from '../find-system-program.ts';
import { isAtLeast, type LinuxTools } from './linux-tools.ts';

/** How much a run may write, all of it in memory and gone with the run. */
export const MAX_WRITTEN_BYTES = 2 * 1024 * 1024 * 1024;

/** Programs of util-linux and coreutils that the keeper is made of. */
export interface KeeperTools {
  readonly unshare: string;
  readonly mount: string;
  readonly cp: string;
}

export function findKeeperTools(): KeeperTools | undefined {
  const [unshare, mount, cp] = ['unshare', 'mount', 'cp'].map(findSystemProgram);
  return unshare !== undefined && mount !== undefined && cp !== undefined
    ? { unshare, mount, cp }
    : undefined;
}

/**
 * Mounts one overlay for each directory and turns into the program that is given behind. Runs in a user and mount
 * namespace of its own, so that everything it mounts is gone with its last process. Relative names keep what a path
 * may contain (colons, commas) out of mount options. The layers are copied into the new file system first, because
 * layers of one overlay must not lie inside each other, and the stage lies in the home directory.
 */
const MOUNT_ALL = `
mount=$1 cp=$2 stage=$3 count=$4 size=$5
shift 5
cd "$stage"
"$mount" -t tmpfs -o "mode=0700,size=$size" tmpfs top
"$cp" -a layers/. top
i=0
while [ "$i" -lt "$count" ]; do
  "$mount" -t overlay -o "lowerdir=top/$i/mask:lower/$i,upperdir=top/$i/upper,workdir=top/$i/work,userxattr" overlay "merged/$i"
  i=$((i+1))
done
unset PWD OLDPWD
`;

/**
 * As the first process of a namespace the script stays, since everything ends with it, and so does the reader beside
 * it, which notices the end of whoever started the run, also while the run is still being set up. The descriptor is
 * one digit, which is what every shell takes.
 */
function toSetup(lifeline: number, bounded: boolean, mounts: boolean): string {
  return `set -eu
{ read -r end <&${lifeline} || :; kill -KILL -1; } &
${bounded ? `echo ${MAX_PROCESSES} >/proc/sys/kernel/pid_max` : ''}
${mounts ? MOUNT_ALL : ''}
status=0
"$@" ${lifeline}<&- || status=$?
exit "$status"
`;
}

/** Behind the three standard streams. */
const FIRST_INPUT_FD = 3;

/** The first kernel on which a process namespace has a limit of its own; before, it would be the whole computer's. */
const PROCESS_LIMIT_KERNEL = [6, 14];

/** Whether the kernel itself bounds how many processes a run has. */
export function boundsProcesses(): boolean {
  const version = release()
    .split('.')
    .slice(0, 2)
    .map((part) => Number.parseInt(part, 10));
  return isAtLeast(version, PROCESS_LIMIT_KERNEL);
}

/** The overlays that a run is to have. */
export interface StagedOverlays {
  readonly stage: string;
  readonly count: number;
}

/**
 * Puts a keeper in front of the command that starts the sandbox: a process namespace that ends with whoever started
 * it, with a limit on processes where the kernel has one (`bounded`), and with overlays mounted where there are some.
 */
export function withKeeper(
  command: Command,
  linux: LinuxTools,
  tools: KeeperTools,
  bounded: boolean,
  overlays: StagedOverlays | undefined,
): Command {
  const lifeline = FIRST_INPUT_FD + (command.inputs ?? []).length;
  const mounting =
    overlays === undefined
      ? []
      : [
          ...[tools.mount, tools.cp, overlays.stage],
          ...[String(overlays.count), String(MAX_WRITTEN_BYTES)],
        ];
  return {
    ...command,
    lifeline: true,
    file: tools.unshare,
    args: [
      ...['--user', '--map-root-user', '--mount', '--propagation', 'slave'],
      ...['--pid', '--fork', '--kill-child', '--mount-proc', '--'],
      ...[linux.sh, '-c', toSetup(lifeline, bounded, overlays !== undefined), 'reins-setup'],
      ...mounting,
      command.file,
      ...command.args,
    ],
  };
}
