import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../base/sha256.ts';
import { splitFrontMatter } from './split-front-matter.ts';

/** A whole SKILL.md, in bytes: instructions are text to be read, and are shown to a model in full. */
export const MAX_SKILL_BYTES = 64 * 1024;

export interface SkillFile {
  /** Of the whole file without byte order mark and with line feeds as line ends: what an allow-list pins. */
  readonly sha256: string;
  /** The instructions, without the front matter. */
  readonly body: string;
}

/** A skill, or in words why it cannot be one. */
export type SkillReading =
  | { readonly kind: 'skill'; readonly skill: SkillFile }
  | { readonly kind: 'refused'; readonly reason: string };

const refused = (reason: string): SkillReading => ({ kind: 'refused', reason });

/** Reads one SKILL.md. `root` is the home or the project that it belongs to; no link leads out of it or around in it. */
export function readSkill(path: string, root: string): SkillReading {
  const real = realPathOf(path);
  if (real === undefined) return refused('is not there');
  const realRoot = realPathOf(root);
  if (realRoot === undefined || real !== join(realRoot, path.slice(root.length))) {
    return refused('is a symbolic link or is reached through one');
  }
  const bytes = readRegularFile(path);
  if (typeof bytes === 'string') return refused(bytes);
  const text = decode(bytes);
  if (text === undefined) return refused('is not a text file in UTF-8');
  const normal = text.replace(/\r\n?/g, '\n');
  const body = splitFrontMatter(normal);
  if (body === undefined)
    return refused('has front matter that is no YAML mapping or does not end');
  if (body.trim() === '') return refused('has no instructions behind its front matter');
  return { kind: 'skill', skill: { sha256: sha256(normal), body } };
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The content of a file, or why it has none. Never waits: a pipe or a device is not opened for long. */
function readRegularFile(path: string): Buffer | string {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(fd);
    if (!stats.isFile()) return 'is not a regular file';
    if (stats.size > MAX_SKILL_BYTES) return `is larger than ${MAX_SKILL_BYTES} bytes`;
    const buffer = Buffer.alloc(MAX_SKILL_BYTES + 1);
    const size = readSync(fd, buffer, 0, buffer.length, 0);
    return size > MAX_SKILL_BYTES
      ? `is larger than ${MAX_SKILL_BYTES} bytes`
      : buffer.subarray(0, size);
  } catch {
    return 'cannot be read';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
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
