import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unavailable } from '../unavailable.ts';
import { type Mount, readOnly } from './bubblewrap.ts';
import { type CommandView, depthOf } from './command-view.ts';

/** Each entry of a directory with something hidden in it is a mount of its own; the kernel takes far more. */
const MAX_ENTRIES = 4_000;
/** For the names of a directory that is built anew. */
const NAMES_BYTES = 1024 * 1024;

/**
 * The mounts of a view without overlays, for a computer that allows none: a directory in which something is hidden
 * is built anew from its other entries, each put in by itself. What the host puts there later is not seen.
 */
export function toReadOnlyMounts(view: CommandView): Mount[] {
  const shown = view.directories.map(({ root }): Mount => readOnly(root));
  const hidden = view.directories.flatMap(({ root, hidden: paths }) =>
    paths.map((path) => join(root, path)),
  );
  const parents = [...new Set(hidden.map((path) => dirname(path)))]
    .filter(isDirectory)
    .sort((a, b) => depthOf(a) - depthOf(b));
  const rebuilt = parents.flatMap((directory) => rebuild(directory, hidden));
  const passed = view.passedThrough.map(readOnly);
  const seals = parents.map((target): Mount => ({ kind: 'seal', target }));
  return [...shown, ...rebuilt, ...passed, ...seals];
}

/** The root directory by its entries, without what is hidden of them. */
export function rootMounts(hidden: readonly string[]): Mount[] {
  return hidden.length === 0 ? [readOnly('/')] : entriesOf('/', hidden);
}

function rebuild(directory: string, hidden: readonly string[]): Mount[] {
  return [
    { kind: 'empty', target: directory, maxBytes: NAMES_BYTES },
    ...entriesOf(directory, hidden),
  ];
}

function entriesOf(directory: string, hidden: readonly string[]): Mount[] {
  const names = readdirSync(directory).filter((name) => !hidden.includes(join(directory, name)));
  if (names.length > MAX_ENTRIES) {
    throw unavailable(
      `${directory} has ${names.length} entries and something to hide among them, where ${MAX_ENTRIES} is the limit on this computer; move the protected file out of it`,
    );
  }
  return names.flatMap((name): Mount[] => {
    const path = join(directory, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    if (stat.isSymbolicLink()) return [{ kind: 'link', source: readlinkSync(path), target: path }];
    return stat.isDirectory() || stat.isFile() ? [readOnly(path)] : [];
  });
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
