/** A command that is to be run confined, with what it may see. */
export interface CommandRequest {
  readonly argv: readonly string[];
  /** Absolute, free of symbolic links, and open to the session. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Home directory of the person whose computer this is. */
  readonly home: string;
  readonly sessionDirectory: string;
  /** Further directories whose writes are thrown away: where the Git data of a worktree is. */
  readonly furtherDirectories: readonly string[];
  /** Paths that are not to be seen, there or not. */
  readonly hidden: readonly string[];
  /** Names that are not to be seen wherever they are, where that can be said; `hidden` has those that were found. */
  readonly hiddenNames: readonly string[];
  /** Files that are put in only for this run, by absolute path. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** A directory of this run alone, which does not exist yet. Nothing in it outlives the run. */
  readonly stage: string;
}

/** Processes that one run may have at once. */
export const MAX_PROCESSES = 1_024;

/** Directories that every command gets for itself, empty: what others put there it does not see. */
export const PRIVATE_DIRECTORIES: readonly string[] = ['/tmp', '/var/tmp', '/run'];

/** Where the generated configuration files of a run are. */
export const GENERATED_DIRECTORY = '/run/reins';
