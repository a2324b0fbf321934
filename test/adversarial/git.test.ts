import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openConfinement } from '../../src/confine/open-confinement.ts';
import {
  createWorktree,
  listChanges,
  type PlannedWorktree,
  removeRemains,
} from '../../src/worktree/create-worktree.ts';
import { findExcludes } from '../../src/worktree/find-excludes.ts';
import { createGit, type Git } from '../../src/worktree/git.ts';
import { inspectSource } from '../../src/worktree/inspect-source.ts';
import { fingerprint, makeRepository, git as userGit } from '../support/repository.ts';
import { createLab, type Lab } from './support/lab.ts';

let lab: Lab;
let git: Git;
let source: string;
beforeEach(async () => {
  lab = await createLab();
  git = createGit(await openConfinement(process.platform));
  source = join(lab.home, 'source');
  mkdirSync(source);
});
afterEach(() => lab.dispose());

const FILES = {
  'a.txt': 'one\n',
  'deep/er/b.txt': 'two\r\n',
  'run.sh': '#!/bin/sh\n',
  'name with\nnewline': 'x',
  '.gitattributes': '*.txt filter=evil diff=evil\n*.txt text\n',
};

async function plan(): Promise<PlannedWorktree> {
  return { ...(await inspectSource(git, source)), path: join(lab.home, 'worktrees/source-1') };
}

/** A program that leaves a trace on the computer when it runs. */
function trap(name: string): { readonly program: string; readonly fired: () => boolean } {
  const trace = join(lab.outside, `fired-${name}`);
  const program = join(lab.outside, `trap-${name}`);
  writeFileSync(program, `#!/bin/sh\necho fired >>"${trace}"\ncat\n`);
  chmodSync(program, 0o755);
  return { program, fired: () => existsSync(trace) };
}

describe('N24 a worktree', () => {
  test('has every file of the commit, on no branch, and changes nothing else in the source', async () => {
    makeRepository(source, FILES);
    chmodSync(join(source, 'run.sh'), 0o755);
    symlinkSync('a.txt', join(source, 'link'));
    userGit(source, 'add', '-A');
    userGit(source, 'commit', '-q', '-m', 'second');
    userGit(source, 'status');
    const before = fingerprint(source);
    const planned = await plan();
    expect(planned).toMatchObject({ topLevel: source, branch: 'main' });
    await createWorktree(git, planned);
    expect(fingerprint(source)).toBe(before);
    const list = (directory: string): string =>
      execFileSync(
        '/usr/bin/find',
        ['.', '-name', '.git', '-prune', '-o', '-printf', '%P %y %m %l %s\\0'],
        { cwd: directory, encoding: 'utf8' },
      )
        .split('\0')
        .filter((line) => !/^ ?d|^\S* d /.test(line))
        .sort()
        .join('\n');
    expect(list(planned.path)).toBe(list(source));
    expect(userGit(planned.path, 'status', '--porcelain')).toBe('');
    expect(userGit(planned.path, 'branch', '--show-current')).toBe('');
    writeFileSync(join(planned.path, 'a.txt'), 'changed\n');
    expect(await listChanges(git, planned)).toEqual(['a.txt']);
    removeRemains(planned);
    expect(fingerprint(source)).toBe(before);
    expect(userGit(source, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
  });

  test('takes what the user ignores everywhere for ignored', async () => {
    makeRepository(source, FILES);
    writeFileSync(join(source, '.DS_Store'), '');
    await expect(plan()).rejects.toThrow(/not committed \(\.DS_Store\)/);
    mkdirSync(join(lab.home, '.config/git'), { recursive: true });
    writeFileSync(join(lab.home, '.config/git/ignore'), '.DS_Store\n');
    const confinement = await openConfinement(process.platform);
    const excludes = await findExcludes(lab.home);
    await expect(inspectSource(createGit(confinement, excludes), source)).resolves.toBeDefined();
    writeFileSync(join(lab.home, 'mine'), '.DS_Store\n');
    writeFileSync(join(lab.home, '.gitconfig'), '[core]\n\texcludesFile = ~/mine\n');
    expect(await findExcludes(lab.home)).toBe(join(lab.home, 'mine'));
  });

  test('is not called unchanged with a commit of its own, or with files that Git ignores', async () => {
    makeRepository(source, FILES);
    const planned = await plan();
    await createWorktree(git, planned);
    expect(await listChanges(git, planned)).toEqual([]);
    writeFileSync(join(planned.path, '.gitignore'), 'out\n');
    userGit(planned.path, 'add', '-A');
    userGit(planned.path, 'commit', '-q', '-m', 'mine');
    expect(await listChanges(git, planned)).toEqual([
      expect.stringMatching(/^commit [0-9a-f]{40} /),
    ]);
    userGit(source, 'branch', 'kept', userGit(planned.path, 'rev-parse', 'HEAD').trim());
    expect(await listChanges(git, planned)).toEqual([]);
    writeFileSync(join(planned.path, 'out'), '');
    expect(await listChanges(git, planned)).toEqual(['out']);
  });

  test('is made for two sessions at once, and not in a repository that is gone', async () => {
    makeRepository(source, FILES);
    const planned = await plan();
    const all = [1, 2, 3, 4].map((number) => ({ ...planned, path: `${planned.path}${number}` }));
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(all.map((each) => createWorktree(git, each)));
      for (const each of all) removeRemains(each);
    }
    rmSync(source, { recursive: true });
    await expect(createWorktree(git, planned)).rejects.toThrow(/is gone/);
    expect(existsSync(source)).toBe(false);
  });

  test('is made anew after a crash in the middle', async () => {
    makeRepository(source, FILES);
    const planned = await plan();
    await createWorktree(git, planned);
    rmSync(join(planned.path, 'a.txt'));
    writeFileSync(join(planned.path, 'half'), '');
    await createWorktree(git, planned);
    expect(existsSync(join(planned.path, 'half'))).toBe(false);
    expect(readFileSync(join(planned.path, 'a.txt'), 'utf8')).toBe('one\n');
    rmSync(planned.path, { recursive: true });
    await createWorktree(git, planned);
    expect(userGit(source, 'worktree', 'list').trim().split('\n')).toHaveLength(2);
  });

  test('of a repository with Git LFS and no git-lfs has the pointers', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n';
    makeRepository(source, {
      '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
      'x.bin': pointer,
    });
    for (const part of ['clean', 'smudge', 'process'])
      userGit(source, 'config', `filter.lfs.${part}`, `git-lfs ${part} -- %f`);
    userGit(source, 'config', 'filter.lfs.required', 'true');
    const planned = await plan();
    await createWorktree(git, planned);
    expect(readFileSync(join(planned.path, 'x.bin'), 'utf8')).toBe(pointer);
  });
});

describe('T31 a hostile repository runs nothing', () => {
  test.each([
    ['fsmonitor', (program: string) => [['core.fsmonitor', program]]],
    [
      'a filter',
      (program: string) => [
        ['filter.evil.clean', program],
        ['filter.evil.smudge', program],
        ['filter.evil.required', 'true'],
      ],
    ],
    ['a filter process', (program: string) => [['filter.evil.process', program]]],
    [
      'a diff driver and textconv',
      (program: string) => [
        ['diff.evil.command', program],
        ['diff.evil.textconv', program],
        ['diff.external', program],
      ],
    ],
    [
      'sshCommand, pager, editor, askPass',
      (program: string) => [
        ['core.sshCommand', program],
        ['core.pager', program],
        ['core.editor', program],
        ['core.askPass', program],
        ['gpg.program', program],
      ],
    ],
    ['a hooks directory', () => [['core.hooksPath', 'hooks']]],
    [
      'an alias of what is used',
      (program: string) => [
        ['alias.status', `!${program}`],
        ['alias.worktree', `!${program}`],
      ],
    ],
  ])('by %s', async (name, settings) => {
    makeRepository(source, FILES);
    const { program, fired } = trap(name.replaceAll(/\W/g, '-'));
    const hooks = [
      'post-checkout',
      'post-index-change',
      'reference-transaction',
      'pre-auto-gc',
      'fsmonitor-watchman',
    ];
    for (const directory of [join(source, '.git/hooks'), join(source, 'hooks')]) {
      mkdirSync(directory, { recursive: true });
      for (const hook of hooks) {
        writeFileSync(join(directory, hook), `#!/bin/sh\n${program}\n`);
        chmodSync(join(directory, hook), 0o755);
      }
    }
    userGit(source, '-c', 'core.hooksPath=/dev/null', 'add', '-A');
    userGit(source, '-c', 'core.hooksPath=/dev/null', 'commit', '-q', '-m', 'hooks');
    for (const [key, value] of settings(program)) userGit(source, 'config', key ?? '', value ?? '');
    // The content of a file is looked at anew when its time is another: that is when filters run.
    writeFileSync(join(source, 'a.txt'), FILES['a.txt']);
    const planned = await plan();
    await createWorktree(git, planned);
    writeFileSync(join(planned.path, 'a.txt'), 'changed');
    await listChanges(git, planned);
    expect(fired()).toBe(false);
    expect(readFileSync(join(planned.path, 'deep/er/b.txt'), 'utf8')).toContain('two');
    // The control: the user's own Git runs what the repository says.
    writeFileSync(join(source, 'a.txt'), FILES['a.txt']);
    for (const args of [
      ['status'],
      ['diff', 'HEAD'],
      ['log', '-p'],
      ['checkout', '-q', '--detach'],
    ]) {
      try {
        userGit(source, ...args);
      } catch {
        // A trap that answers nonsense makes some of these fail.
      }
    }
    const runsWithoutTerminal = !/sshCommand|alias/.test(name);
    if (runsWithoutTerminal) expect(fired()).toBe(true);
  });

  test.each([
    [
      'that holds for worktrees alone',
      '[includeIf "gitdir:**/worktrees/**"]\n\tpath = more\n',
      'evil',
    ],
    ['whose name is not UTF-8', '', 'ev\u00ff'],
  ])('by a filter %s', async (_name, include, filter) => {
    makeRepository(source, FILES);
    // Where Git in its sandbox can see it; what it does shows in the file that it filters.
    const program = join(source, '.git/trap');
    writeFileSync(program, '#!/bin/sh\necho changed by the filter\n');
    chmodSync(program, 0o755);
    const section = `[filter "${filter}"]\n\tsmudge = ${program}\n`;
    mkdirSync(join(source, '.git/info'), { recursive: true });
    writeFileSync(join(source, '.git/info/attributes'), `*.txt filter=${filter}\n`, 'latin1');
    if (include === '')
      writeFileSync(join(source, '.git/config'), section, { flag: 'a', encoding: 'latin1' });
    else {
      writeFileSync(join(source, '.git/more'), section);
      writeFileSync(join(source, '.git/config'), include, { flag: 'a' });
    }
    writeFileSync(join(source, 'a.txt'), FILES['a.txt']);
    const made = await plan().then(
      (planned) => createWorktree(git, planned).then(() => planned),
      () => undefined,
    );
    if (made !== undefined)
      expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe(FILES['a.txt']);
    if (include === '') expect(made).toBeUndefined();
  });

  test('T27 a program named git in the repository is not taken for Git', async () => {
    const { program, fired } = trap('git');
    makeRepository(source, { ...FILES, git: readFileSync(program, 'utf8') });
    chmodSync(join(source, 'git'), 0o755);
    userGit(source, 'add', '-A');
    userGit(source, 'commit', '-q', '-m', 'git');
    await createWorktree(git, await plan());
    expect(fired()).toBe(false);
  });

  test('N24 what its configuration includes from outside is not read', async () => {
    makeRepository(source, FILES);
    writeFileSync(join(lab.outside, 'included'), '[core]\n\tsparseCheckout = true\n');
    userGit(source, 'config', 'include.path', join(lab.outside, 'included'));
    await expect(plan()).resolves.toMatchObject({ topLevel: source });
  });
});

describe('T32 F63 what is no ordinary clean repository is refused with the reason', () => {
  const cases: [string, () => void, RegExp][] = [
    ['no repository', () => {}, /not the top level of a Git repository/],
    [
      'a directory below the top level',
      () => makeRepository(lab.home, { 'source/x': '' }),
      /not the top level/,
    ],
    ['no commits', () => userGit(source, 'init', '-q'), /no commits/],
    [
      'a file that is not committed',
      () => {
        makeRepository(source, FILES);
        writeFileSync(join(source, 'new'), '');
      },
      /not committed \(new\)/,
    ],
    [
      'a change',
      () => {
        makeRepository(source, FILES);
        writeFileSync(join(source, 'a.txt'), 'x');
      },
      /not committed \(a\.txt\)/,
    ],
    [
      'a staged change',
      () => {
        makeRepository(source, FILES);
        writeFileSync(join(source, 'a.txt'), 'x');
        userGit(source, 'add', '-A');
      },
      /not committed \(a\.txt\)/,
    ],
    [
      'a merge under way',
      () => {
        makeRepository(source, FILES);
        writeFileSync(join(source, '.git/MERGE_HEAD'), '');
      },
      /a merge is under way/,
    ],
    [
      'a rebase under way',
      () => {
        makeRepository(source, FILES);
        mkdirSync(join(source, '.git/rebase-merge'));
      },
      /a rebase is under way/,
    ],
    [
      'a locked index',
      () => {
        makeRepository(source, FILES);
        writeFileSync(join(source, '.git/index.lock'), '');
      },
      /index\.lock/,
    ],
    [
      'a sparse checkout',
      () => {
        makeRepository(source, FILES);
        userGit(source, 'config', 'core.sparseCheckout', 'true');
      },
      /sparse checkout/,
    ],
    [
      'a partial clone',
      () => {
        makeRepository(source, FILES);
        userGit(source, 'config', 'extensions.partialClone', 'origin');
        userGit(source, 'config', 'core.repositoryFormatVersion', '1');
      },
      /partial clone/,
    ],
    [
      'borrowed objects',
      () => {
        makeRepository(source, FILES);
        writeFileSync(join(source, '.git/objects/info/alternates'), '/elsewhere\n');
      },
      /borrows objects/,
    ],
    [
      'files elsewhere',
      () => {
        makeRepository(source, FILES);
        userGit(source, 'config', 'core.worktree', lab.outside);
      },
      /top level|core\.worktree/,
    ],
    ['a bare repository', () => userGit(source, 'init', '-q', '--bare'), /bare repository/],
    [
      'a .git that is a link',
      () => {
        makeRepository(source, FILES);
        renameSync(join(source, '.git'), join(lab.outside, 'git'));
        symlinkSync(join(lab.outside, 'git'), join(source, '.git'));
      },
      /is a link/,
    ],
    [
      'a .git that names another place',
      () => {
        makeRepository(source, FILES);
        rmSync(join(source, '.git'), { recursive: true });
        writeFileSync(join(source, '.git'), `gitdir: ${lab.outside}\n`);
      },
      /linked worktree of another/,
    ],
    [
      'a worktree of another repository',
      () => {
        const other = join(lab.home, 'other');
        mkdirSync(other);
        makeRepository(other, FILES);
        rmSync(source, { recursive: true });
        userGit(other, 'worktree', 'add', '-q', '--detach', source);
      },
      /linked worktree of another/,
    ],
    [
      'submodules',
      () => {
        makeRepository(source, FILES);
        const head = userGit(source, 'rev-parse', 'HEAD').trim();
        userGit(source, 'update-index', '--add', '--cacheinfo', `160000,${head},sub`);
        userGit(source, 'commit', '-q', '-m', 'sub');
        mkdirSync(join(source, 'sub'));
      },
      /submodules/,
    ],
    [
      'a HEAD whose objects are missing',
      () => {
        makeRepository(source, FILES);
        rmSync(join(source, '.git/objects'), { recursive: true });
        mkdirSync(join(source, '.git/objects'));
      },
      /no commits|lacks the objects|top level/,
    ],
  ];

  test.each(cases)('%s', async (_name, make, reason) => {
    make();
    const before = existsSync(source) ? readdirSync(source).join() : '';
    await expect(inspectSource(git, source)).rejects.toMatchObject({ code: 'worktree_refused' });
    await expect(inspectSource(git, source)).rejects.toThrow(reason);
    expect(readdirSync(source).join()).toBe(before);
  });
});

describe('T33 F64 a command in a repository', () => {
  test('N22 reads its state, and what it changes in .git is gone afterwards, no lock left', async () => {
    makeRepository(lab.project, { 'a.txt': 'ordinary\n' });
    userGit(lab.project, 'status');
    const before = fingerprint(lab.project);
    for (const argv of [
      ['git', 'status'],
      ['git', 'log', '--oneline'],
      [
        'sh',
        '-c',
        'echo x >>a.txt && git add -A && git -c user.name=x -c user.email=x commit -qm x && git log --oneline',
      ],
      ['git', 'config', 'core.hooksPath', '/evil'],
      ['git', 'checkout', '-q', '-b', 'other'],
      [
        'sh',
        '-c',
        'echo "gitdir: /evil" >x && rm -rf .git && cp x .git && echo "[core]" >.git.x; touch .git/index.lock .git/config.lock',
      ],
      [
        'sh',
        '-c',
        'mkdir -p .git/info; echo "* filter=x" >.git/info/attributes; echo x >.git/config.worktree',
      ],
    ]) {
      await lab.run(argv);
      expect(fingerprint(lab.project)).toBe(before);
    }
  });
});
