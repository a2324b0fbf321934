import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isInside } from '../../../src/base/is-inside.ts';
import { PRIVATE_DIRECTORIES } from '../../../src/confine/command-request.ts';
import {
  type CommandView,
  type FileSystemFacts,
  planCommandView,
} from '../../../src/confine/linux/command-view.ts';

function facts(mountPoints: readonly string[], missing: readonly string[] = []): FileSystemFacts {
  return {
    mountPoints,
    kindOf: (path) => (missing.includes(path) ? 'missing' : 'directory'),
    isReachable: () => true,
    leadsThroughLink: () => false,
  };
}

const shown = (view: CommandView): Record<string, readonly string[]> =>
  Object.fromEntries(view.directories.map(({ root, hidden }) => [root, hidden]));

describe('N22 what a command sees changed', () => {
  test('one overlay for everything below the home directory', () => {
    const view = planCommandView(
      {
        roots: ['/home/u', '/home/u/p', '/home/u/p/sub'],
        hidden: ['/home/u/.ssh', '/home/u/p/.env'],
      },
      facts(['/']),
    );
    expect(shown(view)).toEqual({ '/home/u': ['.ssh', 'p/.env'] });
  });

  test('a session directory elsewhere, and a secret outside of both', () => {
    const view = planCommandView(
      {
        roots: ['/home/u', '/srv/p', '/srv/p'],
        hidden: ['/srv/p/.env', '/etc/shadow', '/run/docker.sock'],
      },
      facts(['/']),
    );
    expect(shown(view)).toEqual({ '/srv/p': ['.env'], '/home/u': [], '/etc': ['shadow'] });
  });

  test('a mount inside: passed through as it is, or an overlay of its own where something is hidden in it', () => {
    const request = { roots: ['/home/u'], hidden: ['/home/u/m2/.env'] };
    const view = planCommandView(request, facts(['/', '/home/u/m1', '/home/u/m2']));
    expect(shown(view)).toEqual({ '/home/u': [], '/home/u/m2': ['.env'] });
    expect(view.passedThrough).toEqual(['/home/u/m1']);
  });

  test('a hidden mount is not passed through', () => {
    const view = planCommandView(
      { roots: ['/home/u'], hidden: ['/home/u/.ssh'] },
      facts(['/', '/home/u/.ssh', '/home/u/.ssh/deep']),
    );
    expect(view.passedThrough).toEqual([]);
    expect(shown(view)).toEqual({ '/home/u': ['.ssh'] });
  });

  test('the root directory is never an overlay; what is hidden in it is left out of it', () => {
    const view = planCommandView(
      { roots: ['/', '/root'], hidden: ['/secrets', '/root/.ssh'] },
      facts(['/']),
    );
    expect(view.hiddenInRoot).toEqual(['/secrets']);
    expect(shown(view)).toEqual({ '/root': ['.ssh'] });
  });

  test('any arrangement: nothing hidden that could be seen is left uncovered, parents come first', () => {
    const part = fc.constantFrom('a', 'b', 'tmp', 'c', '.env');
    const path = fc
      .array(part, { minLength: 1, maxLength: 4 })
      .map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(
        fc.array(path, { minLength: 1, maxLength: 4 }),
        fc.array(path, { maxLength: 6 }),
        fc.array(path, { maxLength: 4 }),
        (roots, hidden, mounts) => {
          const view = planCommandView({ roots, hidden }, facts(['/', ...mounts]));
          const covered = (target: string): boolean =>
            view.hiddenInRoot.some((root) => isInside(target, root)) ||
            view.directories.some(({ root, hidden: names }) =>
              names.some((name) => isInside(target, `${root}/${name}`)),
            );
          for (const target of hidden) {
            const isPrivate = PRIVATE_DIRECTORIES.some((directory) => isInside(target, directory));
            const isShown = view.directories.some(
              ({ root }) => isInside(target, root) && target !== root,
            );
            if (!isPrivate || isShown) expect(covered(target)).toBe(true);
          }
          const order = view.directories.map(({ root }) => root.split('/').length);
          expect(order).toEqual([...order].sort((a, b) => a - b));
          // What lies on top of a directory must not show again what that hides.
          for (const point of [
            ...view.passedThrough,
            ...view.directories.map(({ root }) => root),
          ]) {
            const above = view.directories.filter(
              ({ root }) => root !== point && isInside(point, root),
            );
            for (const { root, hidden: names } of above) {
              for (const name of names) expect(isInside(point, `${root}/${name}`)).toBe(false);
            }
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
