import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));

/** The table of ARCHITECTURE.md: a folder may import itself and these. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  machine: ['base'],
  wire: ['base'],
  process: ['base'],
  ledger: ['base', 'machine'],
  claude: ['base', 'process'],
  confine: ['base', 'process'],
  worktree: ['base', 'process', 'confine'],
  skills: ['base'],
  bridge: ['base', 'claude'],
  deepseek: ['base', 'claude'],
  tools: ['base', 'process', 'confine', 'ledger'],
  session: ['base', 'machine', 'wire', 'ledger'],
  runner: [
    'base',
    'wire',
    'process',
    'ledger',
    'claude',
    'confine',
    'worktree',
    'bridge',
    'deepseek',
    'tools',
    'session',
  ],
  delegate: ['base', 'machine', 'process', 'claude'],
  mcp: ['base', 'claude', 'skills', 'session', 'delegate'],
  cli: [
    'base',
    'machine',
    'wire',
    'process',
    'ledger',
    'claude',
    'confine',
    'worktree',
    'skills',
    'deepseek',
    'tools',
    'session',
    'runner',
    'delegate',
    'mcp',
  ],
};

/** Each is the start of a process of its own, but for the command line, which is many. */
const isEntryPoint = (path: string): boolean =>
  path.startsWith('cli/') || ['runner/main.ts', 'delegate/supervisor/main.ts'].includes(path);

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const files: readonly SourceFile[] = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(SOURCE, path), 'utf8');
    const imports = [...text.matchAll(/(?:from|import)\s*\(?'([^']+)'/g)].map(
      (match) => match[1] ?? '',
    );
    return { path, text, imports };
  });

const folderOf = (path: string): string => path.split('/')[0] ?? '';

function localImports(file: SourceFile): string[] {
  return file.imports
    .filter((name) => name.startsWith('.'))
    .map((name) => relative(SOURCE, resolve(dirname(join(SOURCE, file.path)), name)))
    .filter((path) => !path.startsWith('..'));
}

test('every folder is in the table, and nothing else is', () => {
  expect([...new Set(files.map(({ path }) => folderOf(path)))].sort()).toEqual(
    Object.keys(MAY_IMPORT).sort(),
  );
});

test('folders import only what the table allows', () => {
  const breaches = files.flatMap((file) =>
    localImports(file)
      .filter((target) => {
        const [from, to] = [folderOf(file.path), folderOf(target)];
        return from !== to && !MAY_IMPORT[from]?.includes(to);
      })
      .map((target) => `${file.path} -> ${target}`),
  );
  expect(breaches).toEqual([]);
});

test('the table of ARCHITECTURE.md is the one that is checked here', () => {
  const text = readFileSync(join(SOURCE, '..', 'ARCHITECTURE.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `([a-z]+)\/` \| [^|]+ \| ([^|]+) \|$/gm)].map((match) => [
    match[1] ?? '',
    (match[2] ?? '').trim() === '-' ? [] : (match[2] ?? '').trim().split(', '),
  ]);
  expect(Object.fromEntries(rows)).toEqual(MAY_IMPORT);
});

test('there are no import cycles', () => {
  const graph = new Map(files.map((file) => [file.path, localImports(file)]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path].join(' -> ');
    if (done.has(path)) return undefined;
    for (const target of graph.get(path) ?? []) {
      const cycle = visit(target, [...trail, path]);
      if (cycle !== undefined) return cycle;
    }
    done.add(path);
    return undefined;
  };
  for (const { path } of files) expect(visit(path, [])).toBeUndefined();
});

const RULES: readonly { what: string; pattern: RegExp; allowed: (path: string) => boolean }[] = [
  {
    what: 'only process/ starts processes',
    pattern: /node:child_process/,
    allowed: (path) => path.startsWith('process/'),
  },
  {
    what: 'only ledger/ speaks SQL',
    pattern: /\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b/,
    allowed: (path) => path.startsWith('ledger/'),
  },
  {
    what: 'only entry points read the environment of the process',
    pattern: /process\.env/,
    allowed: (path) => path.startsWith('cli/'),
  },
  {
    what: 'only entry points install signal handlers',
    pattern: /process\.(on|once)\(/,
    allowed: isEntryPoint,
  },
  {
    what: 'only entry points end the process',
    pattern: /process\.exit\(/,
    allowed: isEntryPoint,
  },
  {
    what: 'stdout is written by commands alone',
    pattern: /process\.stdout\.write|console\./,
    allowed: isEntryPoint,
  },
  {
    what: 'nothing is cast past the type checker',
    pattern: /as any|as unknown as|@ts-/,
    allowed: () => false,
  },
  {
    what: 'nothing matches on the text of an error',
    pattern: /\.message\.(includes|match|startsWith)/,
    allowed: () => false,
  },
];

for (const rule of RULES) {
  test(rule.what, () => {
    const breaches = files
      .filter(({ path, text }) => rule.pattern.test(text) && !rule.allowed(path))
      .map(({ path }) => path);
    expect(breaches).toEqual([]);
  });
}
