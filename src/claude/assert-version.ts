import { type LaunchErrorCode, ReinsError } from '../base/reins-error.ts';
import { runCommand } from '../process/run-command.ts';
import { SUPPORTED_CLAUDE_VERSIONS } from './contract.ts';
import { type ClaudeSearch, findClaude } from './find-claude.ts';

const REMEDY = `install it with "npm install -g @anthropic-ai/claude-code@${SUPPORTED_CLAUDE_VERSIONS[0]}" or set CLAUDE_BIN to a binary of that version`;
/** Printing a version takes about 20 ms; a binary that needs this long is not answering. */
const VERSION_TIMEOUT_MS = 10_000;

/**
 * The first Claude Code that is of a supported version. Called before every launch, because an update can replace
 * the file at any time. Throws `claude_not_found`, `claude_not_executable` or `claude_version_unsupported`.
 */
export async function assertClaude(search: ClaudeSearch): Promise<string> {
  const seen: string[] = [];
  for (const candidate of requireCandidates(search)) {
    const version = await readVersion(candidate);
    if (version !== undefined && SUPPORTED_CLAUDE_VERSIONS.includes(version)) return candidate;
    seen.push(`${candidate} ${version === undefined ? 'prints no version' : `is ${version}`}`);
  }
  throw failure('claude_version_unsupported', describeUnsupported(seen));
}

/** What may be Claude Code, best first, at least one. Throws `claude_not_found`. */
export function requireCandidates(search: ClaudeSearch): string[] {
  const candidates = findClaude(search);
  if (candidates.length > 0) return candidates;
  const where =
    search.explicit === null
      ? 'on PATH, in the usual install places or in the pinned package'
      : `at CLAUDE_BIN=${search.explicit}, which has to be the absolute path of an executable file`;
  throw failure('claude_not_found', `No Claude Code was found ${where}; ${REMEDY}.`);
}

/** One sentence about programs of which none is the Claude Code that is needed. */
export function describeUnsupported(seen: readonly string[]): string {
  return `Claude Code ${SUPPORTED_CLAUDE_VERSIONS.join(' or ')} is needed and ${seen.join(', ')}; ${REMEDY}.`;
}

async function readVersion(file: string): Promise<string | undefined> {
  const result = await runCommand(
    { file, args: ['--version'], cwd: '/', env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent' } },
    { timeoutMs: VERSION_TIMEOUT_MS, maxBytes: 4096 },
  );
  const match = /^(\d+\.\d+\.\d+) \(Claude Code\)\s*$/.exec(result.stdout.toString('utf8'));
  return match?.[1];
}

function failure(code: LaunchErrorCode, message: string): ReinsError {
  return new ReinsError(code, message);
}
