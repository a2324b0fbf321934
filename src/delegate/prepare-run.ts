import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { mintRunId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { encodeAdapterInvocation } from '../claude/adapter-command.ts';
import { PRINT_COMMAND } from '../claude/cli-tree.ts';
import type { InvocationArguments } from '../claude/encode-invocation.ts';
import type { RunRequest } from './delegated-run.ts';

/** D14, in seconds. */
export const DEFAULT_TIMEOUT_SECONDS = 600;
export const MAX_TIMEOUT_SECONDS = 1_800;
/** D10. */
export const DEFAULT_PERMISSION_MODE = 'dontAsk';
/** In bytes of UTF-8. Longer than that is a data set, which belongs into a file. */
export const MAX_PROMPT_BYTES = 1024 * 1024;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The arguments of the contract's print command, and what the adapter adds to them. */
export type RunArguments = InvocationArguments & {
  readonly prompt: string;
  readonly timeout_seconds?: number;
  readonly working_directory?: string;
};

/**
 * Checks everything about a run that can be checked before anything is reserved or started. Throws `invalid_parameter`
 * or `working_directory_invalid`.
 */
export function prepareRun(
  args: RunArguments,
  adapterDirectory: string,
  acquiredBy: string | null,
): RunRequest {
  const { timeout_seconds: timeout, working_directory: directory, ...native } = args;
  const permissionMode = String(native['permission_mode'] ?? DEFAULT_PERMISSION_MODE);
  const sessionId = native['session_id'] ?? native['resume_session_id'];
  requirePrompt(args.prompt);
  if (native['session_id'] !== undefined && !UUID.test(String(native['session_id']))) {
    throw invalid(
      'session_id has to be a UUID of 36 characters, such as one from uuidgen; it names a new conversation, and resume_session_id an old one',
    );
  }
  return {
    id: mintRunId(),
    invocation: encodeAdapterInvocation(PRINT_COMMAND, {
      ...native,
      permission_mode: permissionMode,
    }),
    workingDirectory: requireDirectory(directory ?? adapterDirectory),
    timeoutMs: (timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    permissionMode,
    isSaved: native['no_session_persistence'] !== true,
    sessionId: sessionId === undefined ? null : String(sessionId),
    acquiredBy,
  };
}

function requirePrompt(prompt: string): void {
  if (prompt.trim() === '') {
    throw invalid('prompt has nothing but white space, which Claude Code refuses; say what to do');
  }
  if (Buffer.byteLength(prompt) > MAX_PROMPT_BYTES) {
    throw invalid(
      `prompt is longer than ${MAX_PROMPT_BYTES} bytes of UTF-8; put the material into a file and name the file`,
    );
  }
}

function requireDirectory(path: string): string {
  const refuse = (why: string): ReinsError =>
    new ReinsError(
      'working_directory_invalid',
      `working_directory ${why}; give the absolute path of an existing directory, or leave it out.`,
    );
  if (!isAbsolute(path) || path.includes('\0')) throw refuse('has to be an absolute path');
  try {
    if (statSync(path).isDirectory()) return path;
  } catch {
    throw refuse('does not exist or cannot be looked at');
  }
  throw refuse('is not a directory');
}

function invalid(sentence: string): ReinsError {
  return new ReinsError('invalid_parameter', `${sentence}.`);
}
