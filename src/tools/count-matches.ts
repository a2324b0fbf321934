import { isUtf8 } from 'node:buffer';
import { comparePaths } from './compare-paths.ts';
import { isSearched } from './is-searched.ts';
import { describeGaps, runRipgrep, type SearchGaps } from './ripgrep.ts';
import type { SearchPosition } from './search-cursor.ts';
import { joinRecords } from './search-records.ts';
import type { SearchRoot } from './search-root.ts';
import type { ToolContext } from './tool.ts';

/** How many files are kept before those that no page can need are dropped. */
const MAX_KEPT_FILES = 2_000;

interface FileCount {
  readonly path: Buffer;
  readonly count: number;
}

export interface MatchCounts {
  readonly lines: number;
  readonly fileCount: number;
  /** The files that the next page comes from, in order: enough of them to fill it and one line more. */
  readonly files: readonly string[];
  /** Whether files with matching lines follow after those. */
  readonly moreFiles: boolean;
  readonly gaps: SearchGaps;
}

/**
 * First pass: how many matching lines each file has. It runs at ripgrep's own speed on every core, and what has to be
 * kept is bounded by a page: the files that come first in order and hold enough matches to fill it.
 */
export async function countMatches(
  pattern: readonly string[],
  root: SearchRoot,
  after: SearchPosition | undefined,
  limit: number,
  context: ToolContext,
): Promise<MatchCounts> {
  let kept: FileCount[] = [];
  let lines = 0;
  let fileCount = 0;
  let filesAfter = 0;
  let unnamed = 0;
  const end = await runRipgrep(
    ['--count', '--null', '--with-filename', ...pattern, ...root.args],
    root.cwd,
    '\n',
    joinRecords((record) => {
      const path = root.toPath(record.path);
      const count = Number(record.rest.toString('latin1'));
      if (!Number.isSafeInteger(count) || !isSearched(path, context)) return true;
      if (!isUtf8(path)) {
        unnamed += 1;
        return true;
      }
      lines += count;
      fileCount += 1;
      if (after !== undefined && comparePaths(path, after.path) < 0) return true;
      filesAfter += 1;
      kept.push({ path, count });
      if (kept.length > MAX_KEPT_FILES) kept = firstFiles(kept, limit, after);
      return true;
    }),
    context.stopping,
  );
  const files = firstFiles(kept, limit, after).map(({ path }) => path.toString('utf8'));
  const gaps = describeGaps(end);
  return {
    lines,
    fileCount,
    files,
    moreFiles: filesAfter > files.length,
    gaps: {
      ...gaps,
      notes: [...gaps.notes, ...(unnamed === 0 ? [] : [describeUnnamed(unnamed)])],
    },
  };
}

/** The files that come first in order, as many as can be needed for `limit` matching lines after the cursor. */
function firstFiles(
  files: readonly FileCount[],
  limit: number,
  after: SearchPosition | undefined,
): FileCount[] {
  const ordered = [...files].sort((a, b) => comparePaths(a.path, b.path));
  let sum = 0;
  const needed = ordered.findIndex((file) => {
    // Of the cursor's own file it is not known how many lines are left, so it counts for none.
    sum += after?.path.equals(file.path) ? 0 : file.count;
    return sum > limit;
  });
  return needed < 0 ? ordered : ordered.slice(0, needed + 1);
}

/** No parameter can carry such a name, so nothing could be done with a hit in it. */
function describeUnnamed(count: number): string {
  return `not counted: matches in ${count} files whose names are not UTF-8`;
}
