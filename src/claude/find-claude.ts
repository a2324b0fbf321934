import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, isAbsolute, join } from 'node:path';

export interface ClaudeSearch {
  /** `CLAUDE_BIN`. When it is set, nothing else is looked at. */
  readonly explicit: string | null;
  readonly path: string;
  readonly home: string;
}

/** The search that an environment asks for. */
export function toClaudeSearch(env: Readonly<Record<string, string | undefined>>): ClaudeSearch {
  return {
    explicit: env['CLAUDE_BIN'] || null,
    path: env['PATH'] ?? '',
    home: env['HOME'] ?? '/',
  };
}

/**
 * Executables that may be Claude Code, best first: the one that was named, else those on PATH, in the usual install
 * places and in the pinned package. Each file once, whatever links lead to it. Whether one is of a supported version
 * is for the version assertion.
 */
export function findClaude(search: ClaudeSearch): string[] {
  if (search.explicit !== null) return isExecutable(search.explicit) ? [search.explicit] : [];
  const places = [
    ...search.path
      .split(delimiter)
      .filter(isAbsolute)
      .map((directory) => join(directory, 'claude')),
    join(search.home, '.local', 'bin', 'claude'),
    join(search.home, '.claude', 'local', 'claude'),
    join(search.home, '.npm-global', 'bin', 'claude'),
    '/usr/local/bin/claude',
    '/opt/homebrew/bin/claude',
    ...pinnedPackage(),
  ];
  const found = new Map<string, string>();
  for (const place of places) {
    if (!isExecutable(place)) continue;
    const real = realpathSync(place);
    if (!found.has(real)) found.set(real, place);
  }
  return [...found.values()];
}

/** The platform package's own binary: the wrapper package needs an install script that may be blocked. */
function pinnedPackage(): string[] {
  const require = createRequire(import.meta.url);
  const names = [`${process.platform}-${process.arch}`, `${process.platform}-${process.arch}-musl`];
  return names.flatMap((name) => {
    try {
      return [
        join(dirname(require.resolve(`@anthropic-ai/claude-code-${name}/package.json`)), 'claude'),
      ];
    } catch {
      return [];
    }
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return isAbsolute(path) && statSync(path).isFile();
  } catch {
    return false;
  }
}
