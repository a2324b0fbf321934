import type { ClaudePlaces } from '../claude-places.ts';
import type { CommandRequest } from '../command-request.ts';
import type { ToolRequest } from '../confinement.ts';

/** What every program needs to start: the loader's libraries, its own metadata, entropy, and reading kernel values. */
const START = [
  '(version 1)',
  '(deny default)',
  '(allow process-fork)',
  '(allow process-info* (target same-sandbox))',
  '(allow signal (target same-sandbox))',
  '(allow sysctl-read)',
  '(allow file-read-metadata)',
  '(allow file-read* (literal "/") (subpath "/usr/lib") (subpath "/usr/share") (subpath "/System") (subpath "/private/var/db/dyld") (subpath "/private/var/db/timezone"))',
  '(allow file-read* file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper"))',
  '(allow file-read* (literal "/dev/random") (literal "/dev/urandom"))',
  // Names of users and groups. Everything else that Mach offers (key chain, pasteboard, launch services) stays closed.
  '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
];

/** Claude Code: its own directories, the one socket of its model, its two pipes, and the two programs that copy. */
export function toClaudeProfile(places: ClaudePlaces): string {
  const own = [places.home, places.configDirectory, places.runtimeDirectory].map(subpath).join(' ');
  const pipes = [places.executorRequests, places.executorAnswers].map(literal).join(' ');
  return toText([
    ...START,
    `(allow process-exec ${literal(places.executable)} (literal "/bin/sh") (literal "/bin/bash") (literal "/bin/cat"))`,
    `(allow file-read* file-map-executable ${literal(places.executable)} (subpath "/bin") (subpath "/usr/bin"))`,
    `(allow file-read* file-write* ${own} ${pipes})`,
    `(allow network-outbound (remote unix-socket (path-literal ${quote(places.modelSocket)})))`,
    `(allow file-read* file-write* ${literal(places.modelSocket)})`,
  ]);
}

/**
 * A command: it reads the computer but for what is hidden, writes into its scratch directory alone, and has no network
 * and no service of the system. Seatbelt judges paths and not inodes; hard links to hidden files have to be among
 * `hidden`. Rules further down win.
 */
export function toCommandProfile(
  request: Pick<CommandRequest, 'hidden' | 'hiddenNames'>,
  scratch: string,
): string {
  const hidden = request.hidden.flatMap((path) => [subpath(path)]);
  const names = request.hiddenNames.map((pattern) => `(regex ${toRegex(pattern)})`);
  const closed = [...hidden, ...names].join(' ');
  return toText([
    ...START,
    '(allow process-exec)',
    '(allow file-read* file-map-executable)',
    '(allow file-ioctl (literal "/dev/null"))',
    '(allow ipc-posix-shm*)',
    ...(closed === '' ? [] : [`(deny file-read* file-write* process-exec ${closed})`]),
    // The scratch directory lies in Reins' own state, which is hidden.
    `(allow file-read* file-write* process-exec ${subpath(scratch)})`,
    '(deny network*)',
    '(deny mach-lookup (global-name-regex #"^com\\.apple\\.(security|securityd|SecurityServer|pasteboard|coreservices|lsd|tccd)"))',
    '(deny appleevent-send)',
    '(deny file-link)',
  ]);
}

/** A program that sees the system and the directories named, and writes into some of them. */
export function toToolProfile(request: Pick<ToolRequest, 'readable' | 'writable'>): string {
  const readable = [...request.readable, ...request.writable].map(subpath).join(' ');
  return toText([
    ...START,
    '(allow process-exec)',
    '(allow file-read* file-map-executable (subpath "/bin") (subpath "/usr") (subpath "/Library/Developer") (subpath "/Applications/Xcode.app") (subpath "/opt/homebrew") (subpath "/private/etc"))',
    `(allow file-read* ${readable})`,
    ...(request.writable.length === 0
      ? []
      : [`(allow file-write* ${request.writable.map(subpath).join(' ')})`]),
  ]);
}

function toText(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

function subpath(path: string): string {
  return `(subpath ${quote(path)})`;
}

function literal(path: string): string {
  return `(literal ${quote(path)})`;
}

/** A string of the profile language. Control characters in a path cannot be written in it and match nothing. */
function quote(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** A file name pattern with at most one `*`, anywhere in the tree. */
function toRegex(pattern: string): string {
  const escaped = pattern
    .split('*')
    .map((part) => part.replaceAll(/[.\\+?^$()[\]{}|"]/g, (character) => `\\${character}`))
    .join('[^/]*');
  return `#"/${escaped}$"`;
}
