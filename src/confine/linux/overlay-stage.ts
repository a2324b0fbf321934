import { linkSync, lstatSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CommandView, ShownDirectory } from './command-view.ts';

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
