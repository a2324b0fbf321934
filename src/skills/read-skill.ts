import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { sha256 } from '../base/sha256.ts';
import { systemErrorCode } from '../base/system-error-code.ts';

/** A whole SKILL.md, in bytes: instructions are text to be read, and are shown to a model in full. */
export const MAX_SKILL_BYTES = 64 * 1024;

export interface SkillFile {
  /** Of the text: what an allow-list pins. */
  readonly sha256: string;
  /** The whole file without byte order mark and with line feeds as line ends. */
  readonly text: string;
  /** Where it is, free of links. */
  readonly path: string;
}

/** A file that can hold a skill, or in words why there is none. */
export type SkillReading =
  | { readonly kind: 'file'; readonly file: SkillFile }
  | { readonly kind: 'refused'; readonly reason: string };

const refused = (reason: string): SkillReading => ({ kind: 'refused', reason });

/**
 * Reads one SKILL.md below `root`, the home or the project that it belongs to. The file that is read is at that very
 * path: no link leads to it, around in it or, by a further name, away from it; not even one that is put there meanwhile.
 */
export function readSkill(path: string, root: string): SkillReading {
  const expected = expectedPath(path, root);
  if (typeof expected !== 'string') return refused(expected.reason);
  const bytes = readRegularFile(expected);
  if (typeof bytes === 'string') return refused(bytes);
  const text = decode(bytes);
  if (text === undefined) return refused('is not a text file in UTF-8');
  const normal = text.replace(/\r\n?/g, '\n');
  return { kind: 'file', file: { sha256: sha256(normal), text: normal, path: expected } };
}

/** Where the file really is when nothing but the root itself is reached through links. */
function expectedPath(path: string, root: string): string | { readonly reason: string } {
  const absolute = resolve(root);
  try {
    const expected = join(realpathSync.native(absolute), resolve(path).slice(absolute.length));
    if (realpathSync.native(path) === expected) return expected;
    return { reason: 'is a symbolic link, is reached through one or is spelled otherwise' };
  } catch (error) {
    return { reason: describeAbsence(error) };
  }
}

function describeAbsence(error: unknown): string {
  const code = systemErrorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR'
    ? 'is not there'
    : `cannot be reached (${code ?? 'unknown reason'})`;
}

/** The content of a file, or why it has none. Never waits: a pipe or a device is not opened for long. */
function readRegularFile(path: string): Buffer | string {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(fd);
    if (!stats.isFile()) return 'is not a regular file';
    if (stats.nlink > 1) return 'has a further name somewhere (a hard link)';
    if (openedPath(fd, path) !== path) return 'was moved while it was looked at';
    if (stats.size > MAX_SKILL_BYTES) return `is larger than ${MAX_SKILL_BYTES} bytes`;
    const buffer = Buffer.alloc(MAX_SKILL_BYTES + 1);
    const size = readSync(fd, buffer, 0, buffer.length, 0);
    return size > MAX_SKILL_BYTES
      ? `is larger than ${MAX_SKILL_BYTES} bytes`
      : buffer.subarray(0, size);
  } catch (error) {
    return `cannot be read (${systemErrorCode(error) ?? 'unknown reason'})`;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Where an open file is. On macOS the path is resolved again, which a fast enough swap can beat; the hash cannot be. */
function openedPath(fd: number, path: string): string {
  return process.platform === 'linux'
    ? readlinkSync(`/proc/self/fd/${fd}`)
    : realpathSync.native(path);
}

/** Without its byte order mark; undefined for bytes that are no text. */
function decode(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
