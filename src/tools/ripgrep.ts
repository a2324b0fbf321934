import { rgPath } from '@vscode/ripgrep';
import { ReinsError } from '../base/reins-error.ts';
import { type StreamEnd, streamRecords } from '../process/stream-records.ts';

/** How long one search may run; what was found until then is returned and marked. Milliseconds. */
const SEARCH_TIME_MS = 20_000;
/** A path is at most 4,096 bytes, and a shown line is cut by ripgrep itself. */
const MAX_RECORD_BYTES = 64 * 1024;

/** The same walk for every search: everything but .git, whatever ignore files say, and no symbolic link. */
export const WALK_FLAGS: readonly string[] = [
  '--no-config',
  '--no-ignore',
  '--hidden',
  '--no-follow',
  '--iglob=!.git',
  '--color=never',
];

/**
 * Runs ripgrep in `cwd` and hands its output over record by record. It starts no other program and reads no
 * configuration. Throws `search_failed` only when it could not be started, or was ended by `stopping`; an unreadable
 * directory is no such reason.
 */
export async function runRipgrep(
  args: readonly string[],
  cwd: string,
  separator: '\n' | '\0',
  onRecord: (record: Buffer) => boolean,
  stopping?: AbortSignal,
): Promise<StreamEnd> {
  const end = await streamRecords(
    { file: rgPath, args: [...WALK_FLAGS, ...args], cwd, env: {} },
    {
      timeoutMs: SEARCH_TIME_MS,
      maxRecordBytes: MAX_RECORD_BYTES,
      separator: separator.charCodeAt(0),
      signal: stopping,
    },
    onRecord,
  );
  if (end.ended === 'not_started') {
    throw new ReinsError(
      'search_failed',
      'ripgrep could not be started; reinstall Reins with "npm ci".',
    );
  }
  if (end.ended === 'aborted') {
    throw new ReinsError(
      'search_failed',
      'The search was ended with what it was done for; repeat it if its result is needed.',
    );
  }
  return end;
}

/** What kept a search from being complete, as notes for the reader. */
export interface SearchGaps {
  readonly notes: readonly string[];
  /** Whether it ended before it had looked everywhere. */
  readonly incomplete: boolean;
}

export function describeGaps(end: StreamEnd): SearchGaps {
  const notes: string[] = [];
  if (end.ended === 'timeout')
    notes.push(
      `stopped after ${SEARCH_TIME_MS / 1000} s, so results are incomplete; name a smaller directory`,
    );
  // ripgrep that is asked to stop and ripgrep that dies both end by a signal; only the first was wanted.
  const died = end.ended === 'exit' && end.exitCode === null;
  if (died) notes.push('the search broke off, so results are incomplete; repeat it');
  const unreadable = end.stderr.split('\n').filter((line) => line.includes('(os error')).length;
  if (unreadable > 0) notes.push(`${unreadable} entries could not be read`);
  return { notes, incomplete: died || end.ended === 'timeout' };
}
