import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { RunnerId, SessionId } from './ids.ts';
import { ReinsError } from './reins-error.ts';
import { systemErrorCode } from './system-error-code.ts';

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, the terminating zero included. */
const MAX_SOCKET_PATH_BYTES = 103;
/** What is put behind the state directory for a socket: `/run/runner_<20>.sock`. */
const SOCKET_SUFFIX_BYTES = '/run/runner_.sock'.length + 20;

/** Where everything durable lives: directories 0700, files 0600, one owner. */
export interface StateDirectory {
  readonly root: string;
  readonly database: string;
  readonly secretFile: string;
  readonly httpTokenFile: string;
  /** Each runner has a socket of its own, so that one which leaves cannot remove its successor's. */
  socketPath(runner: RunnerId): string;
  /** Where the runner's Claude Code finds its model. */
  modelSocketPath(runner: RunnerId): string;
  /** Where the Claude Code of the runner's subagent finds its model. */
  subagentSocketPath(runner: RunnerId): string;
  sessionPaths(session: SessionId): SessionPaths;
  subagentPaths(session: SessionId): SubagentPaths;
}

/** One session's own places: nothing of another session or of the user's Claude Code is in them. */
export interface SessionPaths {
  readonly root: string;
  readonly home: string;
  readonly claudeConfig: string;
  readonly runtime: string;
  /** What commands are prepared with; empty while none runs. */
  readonly commands: string;
  readonly log: string;
}

/** The places of a session's subagent: made for each one, and gone with it. */
export type SubagentPaths = Pick<SessionPaths, 'root' | 'home' | 'claudeConfig' | 'runtime'>;

/** `REINS_STATE_DIR`, its alias, or the platform's per-user state directory. Throws `state_directory_invalid`. */
export function locateStateDirectory(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): string {
  const named = env['REINS_STATE_DIR'] ?? env['CLAUDE_TOOLS_STATE_DIR'];
  if (named !== undefined) {
    if (isAbsolute(named)) return named;
    throw new ReinsError(
      'state_directory_invalid',
      `REINS_STATE_DIR is "${named}" and has to be an absolute path; set it to one or unset it.`,
    );
  }
  const home = env['HOME'];
  if (home === undefined || !isAbsolute(home)) {
    throw new ReinsError(
      'state_directory_invalid',
      'HOME is not set to an absolute path, so the state directory is unknown; set REINS_STATE_DIR.',
    );
  }
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'reins');
  const xdg = env['XDG_STATE_HOME'];
  return join(xdg !== undefined && isAbsolute(xdg) ? xdg : join(home, '.local', 'state'), 'reins');
}

/** Creates what is missing, tightens what is loose, and refuses a directory that belongs to somebody else. */
export function openStateDirectory(root: string): StateDirectory {
  if (Buffer.byteLength(root) + SOCKET_SUFFIX_BYTES > MAX_SOCKET_PATH_BYTES) {
    throw new ReinsError(
      'state_directory_invalid',
      `REINS_STATE_DIR is ${Buffer.byteLength(root)} bytes long and unix sockets allow ${MAX_SOCKET_PATH_BYTES - SOCKET_SUFFIX_BYTES}; set it to a shorter path.`,
    );
  }
  for (const directory of [root, join(root, 'run'), join(root, 'sessions')]) {
    ensurePrivateDirectory(directory);
  }
  return describeStateDirectory(root);
}

/**
 * Where worktrees are kept: beside the state directory, which is closed to sessions, on the same disk. Its path does
 * not begin with the other's, so that neither is taken for the other.
 */
export function worktreesRoot(state: StateDirectory): string {
  const root = realpathSync(state.root);
  return join(dirname(root), `worktrees.${basename(root)}`);
}

function describeStateDirectory(root: string): StateDirectory {
  return {
    root,
    database: join(root, 'state.db'),
    secretFile: join(root, 'secret.key'),
    httpTokenFile: join(root, 'http-token'),
    socketPath: (runner) => join(root, 'run', `${runner}.sock`),
    modelSocketPath: (runner) => join(root, 'run', `${runner}.api`),
    subagentSocketPath: (runner) => join(root, 'run', `${runner}.sub`),
    sessionPaths: (session) => {
      const own = join(root, 'sessions', session);
      return {
        root: own,
        home: join(own, 'home'),
        claudeConfig: join(own, 'claude'),
        runtime: join(own, 'runtime'),
        commands: join(own, 'commands'),
        log: join(own, 'runner.log'),
      };
    },
    subagentPaths: (session) => {
      const own = join(root, 'sessions', session, 'subagent');
      return {
        root: own,
        home: join(own, 'home'),
        claudeConfig: join(own, 'claude'),
        runtime: join(own, 'runtime'),
      };
    },
  };
}

/** Makes `directory` exist with mode 0700 and this user as its owner. Throws `state_directory_invalid`. */
export function ensurePrivateDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const stat = statSync(directory);
    if (!stat.isDirectory()) throw new Error('it is not a directory');
    if (process.getuid !== undefined && stat.uid !== process.getuid()) {
      throw new Error('it belongs to another user');
    }
    if ((stat.mode & 0o077) !== 0) chmodSync(directory, 0o700);
  } catch (error) {
    const reason = systemErrorCode(error) ?? (error instanceof Error ? error.message : 'unknown');
    throw new ReinsError(
      'state_directory_invalid',
      `The state directory ${directory} cannot be used (${reason}); make it writable for you alone or set REINS_STATE_DIR to another absolute path.`,
      { cause: error },
    );
  }
}

/**
 * Reads a 0600 file of 32 random bytes as hex, creating it on first use. Two processes that create it at once
 * agree on one value: the content is complete before `link` makes it visible, and `link` never replaces.
 */
export function readOrCreateSecret(path: string): string {
  const existing = readSecret(path);
  if (existing !== undefined) return existing;
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const fd = openSync(draft, 'wx', 0o600);
  try {
    writeSync(fd, randomBytes(32).toString('hex'));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  try {
    linkSync(draft, path);
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const created = readSecret(path);
  if (created !== undefined) return created;
  throw new ReinsError(
    'state_directory_invalid',
    `The file ${path} does not hold 64 hexadecimal digits; move it away so that it can be made anew.`,
  );
}

function readSecret(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return /^[0-9a-f]{64}$/.test(text) ? text : undefined;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
