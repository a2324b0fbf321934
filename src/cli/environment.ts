import * as z from 'zod';
import { ReinsError } from '../base/reins-error.ts';
import { locateStateDirectory } from '../base/state-directory.ts';
import { type ClaudeSearch, toClaudeSearch } from '../claude/find-claude.ts';
import { DEFAULT_LEASE_SECONDS, MAX_LEASE_SECONDS } from '../session/lease.ts';

/** What Reins takes from the environment, read once where the program starts. */
export interface Environment {
  readonly stateDirectory: string;
  readonly userHome: string;
  readonly claude: ClaudeSearch;
  readonly leaseSeconds: number;
  readonly compactWindowTokens: number | null;
}

const wholeNumber = z.string().regex(/^\d+$/).transform(Number);

/** Throws a coded error that names the variable. */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): Environment {
  return {
    stateDirectory: locateStateDirectory(env, platform),
    userHome: env['HOME'] ?? '/',
    claude: toClaudeSearch(env),
    leaseSeconds:
      readNumber(env, 'REINS_LEASE_SECONDS', 1, MAX_LEASE_SECONDS) ?? DEFAULT_LEASE_SECONDS,
    compactWindowTokens: readNumber(env, 'REINS_COMPACT_WINDOW_TOKENS', 100_000, 1_000_000) ?? null,
  };
}

function readNumber(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  min: number,
  max: number,
): number | undefined {
  const value = env[name];
  if (value === undefined || value === '') return undefined;
  const parsed = wholeNumber.safeParse(value);
  if (parsed.success && parsed.data >= min && parsed.data <= max) return parsed.data;
  throw new ReinsError(
    'invalid_parameter',
    `${name} is "${value}" and has to be a whole number from ${min} to ${max}; correct or unset it.`,
  );
}
