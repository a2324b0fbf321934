import { dirname, relative } from 'node:path';
import { isInside } from '../../base/is-inside.ts';
import { PRIVATE_DIRECTORIES } from '../command-request.ts';

/** What the planning has to know of the file system. */
export interface FileSystemFacts {
  kindOf(path: string): 'directory' | 'other' | 'missing';
  /** Whether a directory above `path` is named through a symbolic link. */
  leadsThroughLink(path: string): boolean;
  /** Whether the user could read what is at `path`, or put something there. */
  isReachable(path: string): boolean;
  /** Mount points of this computer. */
  readonly mountPoints: readonly string[];
}

export interface ViewRequest {
  /** Directories whose writes are thrown away: home, session directory, working directory and others. */
  readonly roots: readonly string[];
  readonly hidden: readonly string[];
}

/** One directory that is shown changed: without what is hidden in it. */
export interface ShownDirectory {
  readonly root: string;
  /** Relative to `root`. */
  readonly hidden: readonly string[];
}

export interface CommandView {
  /** Parents before children. Later ones lie on top of earlier ones. */
  readonly directories: readonly ShownDirectory[];
  /** Mount points inside of these that are shown as they are. */
  readonly passedThrough: readonly string[];
  /** Hidden entries of the root directory itself. */
  readonly hiddenInRoot: readonly string[];
}

const PSEUDO = ['/proc', '/dev', '/sys'];

/**
 * Which directories a command sees changed. Something is hidden by its parent directory, never by a mount over it: a
 * mount goes away when the host renames another file to that name, and so would the hiding.
 */
export function planCommandView(request: ViewRequest, facts: FileSystemFacts): CommandView {
  const roots = new Set(
    request.roots.filter(
      (root) =>
        root !== '/' &&
        facts.kindOf(root) === 'directory' &&
        // A directory inside of something hidden is not shown at all.
        !request.hidden.some((path) => isInside(root, path)),
    ),
  );
  const isShown = (path: string): boolean =>
    [...roots].some((root) => isInside(path, root)) ||
    ![...PRIVATE_DIRECTORIES, ...PSEUDO].some((directory) => isInside(path, directory));
  // A path through a symbolic link is not a place of its own: what it leads to is listed by its real name.
  const direct = request.hidden.filter((path) => !facts.leadsThroughLink(path));
  const hidden = outermost(direct).filter(isShown);
  const hiddenInRoot = hidden.filter((path) => dirname(path) === '/');
  const inDirectories = hidden.filter((path) => dirname(path) !== '/');

  // What lies outside of all roots is a root of its own, if there is anything that could be seen at all.
  for (const path of inDirectories) {
    if ([...roots].some((root) => isInside(path, root) && path !== root)) continue;
    const parent = dirname(path);
    if (facts.kindOf(parent) === 'directory' && facts.isReachable(path)) roots.add(parent);
  }
  // An overlay shows only the file system that its directory is on: a mount inside it is a root or passed through.
  const inner = facts.mountPoints.filter((point) =>
    [...roots].some((root) => isInside(point, root) && point !== root),
  );
  for (const point of inner) {
    const holds = inDirectories.some((path) => isInside(path, point) && path !== point);
    if (holds && facts.kindOf(point) === 'directory') roots.add(point);
  }
  const needed = [...roots].filter((root) => !isCovered(root, roots, facts.mountPoints));
  const closest = (path: string): string | undefined =>
    needed
      .filter((root) => isInside(path, root) && path !== root)
      .sort((a, b) => b.length - a.length)[0];
  const directories = needed.sort(byDepth).map((root) => ({
    root,
    hidden: inDirectories
      .filter((path) => closest(path) === root)
      .map((path) => relative(root, path)),
  }));
  return {
    directories,
    passedThrough: inner
      .filter((point) => !needed.includes(point))
      .filter((point) => !hidden.some((path) => isInside(point, path)))
      .sort(byDepth),
    hiddenInRoot,
  };
}

/** Without what is inside of another. */
function outermost(paths: readonly string[]): string[] {
  const all = new Set(paths);
  const isCovered = (path: string): boolean =>
    path !== '/' && (all.has(dirname(path)) || isCovered(dirname(path)));
  return [...all].filter((path) => !isCovered(path));
}

/** Whether another root shows this one too, being above it on the same file system. */
function isCovered(
  root: string,
  roots: ReadonlySet<string>,
  mountPoints: readonly string[],
): boolean {
  return [...roots].some(
    (other) =>
      other !== root &&
      isInside(root, other) &&
      !mountPoints.some(
        (point) => point !== other && isInside(point, other) && isInside(root, point),
      ),
  );
}

/** Grows with every directory below the root: what is mounted in another has the greater one. */
export function depthOf(path: string): number {
  return path.split('/').length;
}

function byDepth(a: string, b: string): number {
  return depthOf(a) - depthOf(b) || (a < b ? -1 : 1);
}
