import { closeSync, openSync, readdirSync, readSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../base/parse-json.ts';

/** How far the first message is looked for: above the longest prompt with all that is put in front of it. Bytes. */
const MAX_HEAD_BYTES = 4 * 1024 * 1024;

const messageLine = z.looseObject({ type: z.enum(['user', 'assistant']) });

/**
 * Whether Claude Code can resume the conversation with this id. It writes a file before there is a message in it, and
 * one that was killed right then can neither be resumed ("No conversation found") nor begun again ("already in use").
 * Such a file is moved out of the way, so that the conversation can begin.
 */
export function claimConversation(configDirectory: string, sessionId: string): boolean {
  const projects = join(configDirectory, 'projects');
  const name = `${sessionId}.jsonl`;
  let resumable = false;
  for (const project of listDirectory(projects)) {
    if (!listDirectory(join(projects, project)).includes(name)) continue;
    const file = join(projects, project, name);
    if (hasMessage(file)) resumable = true;
    else renameSync(file, `${file}.empty`);
  }
  return resumable;
}

function hasMessage(file: string): boolean {
  const head = Buffer.alloc(MAX_HEAD_BYTES);
  const fd = openSync(file, 'r');
  try {
    const text = head.toString('utf8', 0, readSync(fd, head, 0, head.length, 0));
    return text.split('\n').some((line) => messageLine.safeParse(parseJson(line)).success);
  } finally {
    closeSync(fd);
  }
}

function listDirectory(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
