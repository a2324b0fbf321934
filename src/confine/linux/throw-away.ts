import { linkSync, lstatSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { release } from 'node:os';
import { dirname, join } from 'node:path';
import type { Command } from '../../process/spawn-owned.ts';
import { MAX_PROCESSES } from '../command-request.ts';
import { findSystemProgram } from '../find-system-program.ts';
import type { CommandView, ShownDirectory } from './command-view.ts';
import { isAtLeast, type LinuxTools } from './linux-tools.ts';

/** How much a run may write, all of it in memory and gone with the run. */
export const MAX_WRITTEN_BYTES = 2 * 1024 * 1024 * 1024;

/** Programs of util-linux and coreutils that mount the overlays. */
export interface OverlayTools {
  readonly unshare: string;
  readonly mount: string;
  readonly cp: string;
}

export function findOverlayTools(): OverlayTools | undefined {
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

/** Where the overlay of the directory with this number is mounted, before it is put into the sandbox. */
export function mergedPath(stage: string, index: number): string {
  return join(stage, 'merged', String(index));
}

/**
 * Prepares the overlays of a view in `stage`. What is hidden is a whiteout in a layer between: the name is gone,
 * whatever the host renames to it later. `whiteout` is one such file on the same file system.
 */
export function writeOverlayStage(stage: string, view: CommandView, whiteout: string): void {
  mkdirSync(stage, { mode: 0o700 });
  for (const part of ['top', 'layers', 'lower', 'merged']) mkdirSync(join(stage, part));
  view.directories.forEach((directory, index) => {
    mkdirSync(mergedPath(stage, index));
    symlinkSync(directory.root, join(stage, 'lower', String(index)));
    const layers = join(stage, 'layers', String(index));
    for (const layer of ['', 'upper', 'work']) mkdirSync(join(layers, layer));
    writeMask(join(layers, 'mask'), directory, whiteout);
  });
}

function writeMask(mask: string, directory: ShownDirectory, whiteout: string): void {
  mkdirSync(mask, { mode: statSync(directory.root).mode & 0o777 });
  for (const path of directory.hidden) {
    const place = findWhiteoutPlace(directory.root, path);
    if (place === undefined || isHidden(mask, place)) continue;
    makeParents(mask, directory.root, dirname(place));
    linkSync(whiteout, join(mask, place));
  }
}

/** Whether the place or something above it is a whiteout already. */
function isHidden(mask: string, place: string): boolean {
  const parts = place.split('/');
  return parts.some((_part, index) => {
    const stat = lstatSync(join(mask, ...parts.slice(0, index + 1)), { throwIfNoEntry: false });
    return stat !== undefined && !stat.isDirectory();
  });
}

/** The first part of the path that is missing, else the whole; nothing when it leads through a symbolic link. */
function findWhiteoutPlace(root: string, path: string): string | undefined {
  const parts = path.split('/');
  for (let length = 1; length < parts.length; length += 1) {
    const place = parts.slice(0, length).join('/');
    const stat = lstatSync(join(root, place), { throwIfNoEntry: false });
    if (stat === undefined) return place;
    if (!stat.isDirectory()) return undefined;
  }
  return path;
}

/** The directories in front of a whiteout, each with the permissions of the one that it stands for. */
function makeParents(mask: string, root: string, path: string): void {
  const target = join(mask, path);
  if (path === '.' || lstatSync(target, { throwIfNoEntry: false }) !== undefined) return;
  makeParents(mask, root, dirname(path));
  mkdirSync(target, { mode: statSync(join(root, path)).mode & 0o777 });
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
  tools: OverlayTools,
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
