import * as z from 'zod';
import { FAILPOINTS, type Failpoint } from '../base/failpoint.ts';
import { parseJson } from '../base/parse-json.ts';
import { ReinsError } from '../base/reins-error.ts';
import { locateStateDirectory } from '../base/state-directory.ts';
import { type ClaudeSearch, toClaudeSearch } from '../claude/find-claude.ts';
import type { ProtectionSettings } from '../confine/path-protection.ts';
import { DEFAULT_LEASE_SECONDS, MAX_LEASE_SECONDS } from '../session/lease.ts';
import { parseAllowList, type SkillPin } from '../skills/allow-list.ts';
import { TOOL_LOCATIONS } from '../tools/command/command-environment.ts';
import { type DeepseekEnvironment, readDeepseekEnvironment } from './deepseek-environment.ts';

/** What Reins takes from the environment, read once where the program starts. */
export interface Environment {
  readonly stateDirectory: string;
  readonly userHome: string;
  readonly claude: ClaudeSearch;
  readonly leaseSeconds: number;
  readonly protection: ProtectionSettings;
  /** The skills that sessions may have. */
  readonly skillAllowList: readonly SkillPin[];
  readonly deepseek: DeepseekEnvironment;
  readonly searchPath: string;
  /** Where the user's tools live, for commands: JAVA_HOME and the like. */
  readonly toolLocations: Readonly<Record<string, string>>;
  readonly compactWindowTokens: number | null;
  /** For crash tests: the moment at which a process of this gateway's ends as if the power had been cut. */
  readonly failpoint: Failpoint | null;
}

const wholeNumber = z.string().regex(/^\d+$/).transform(Number);

/** Throws a coded error that names the variable. */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): Environment {
  const stateDirectory = locateStateDirectory(env, platform);
  const deepseek = readDeepseekEnvironment(env, stateDirectory);
  return {
    stateDirectory,
    userHome: env['HOME'] ?? '/',
    claude: toClaudeSearch(env),
    leaseSeconds:
      readNumber(env, 'REINS_LEASE_SECONDS', 1, MAX_LEASE_SECONDS) ?? DEFAULT_LEASE_SECONDS,
    protection: {
      closed: [
        ...readPatterns(env, 'REINS_PROTECTED_PATHS_JSON'),
        ...(deepseek.protectedFile === null ? [] : [deepseek.protectedFile]),
      ],
      opened: readPatterns(env, 'REINS_UNPROTECTED_PATHS_JSON'),
    },
    skillAllowList: readSkillAllowList(env),
    deepseek,
    searchPath: env['PATH'] ?? '',
    toolLocations: Object.fromEntries(
      TOOL_LOCATIONS.map((name) => [name, env[name] ?? '']).filter(([, value]) =>
        value?.startsWith('/'),
      ),
    ),
    compactWindowTokens: readNumber(env, 'REINS_COMPACT_WINDOW_TOKENS', 100_000, 1_000_000) ?? null,
    failpoint: readFailpoint(env),
  };
}

function readFailpoint(env: Readonly<Record<string, string | undefined>>): Failpoint | null {
  const name = env['REINS_FAILPOINT'];
  if (name === undefined || name === '') return null;
  const known = FAILPOINTS.find((each) => each === name);
  if (known !== undefined) return known;
  throw new ReinsError(
    'invalid_parameter',
    `REINS_FAILPOINT is "${name}" and has to be one of ${FAILPOINTS.join(', ')}; correct or unset it.`,
  );
}

const ALLOW_LIST_NAMES = [
  'REINS_SKILL_ALLOWLIST_JSON',
  'CLAUDE_TOOLS_NATIVE_SKILL_ALLOWLIST_JSON',
] as const;

function readSkillAllowList(
  env: Readonly<Record<string, string | undefined>>,
): readonly SkillPin[] {
  const name = ALLOW_LIST_NAMES.find((each) => (env[each] ?? '') !== '');
  if (name === undefined) return [];
  const list = parseAllowList(env[name] ?? '');
  if (list !== undefined) return list;
  throw new ReinsError(
    'invalid_parameter',
    `${name} has to be a JSON array of at most 1000 entries such as {"skill_id":"personal:review","content_sha256":"<64 hex digits>"}; correct or unset it, "reins skills" prints the entries.`,
  );
}

const patterns = z.array(z.string().min(1).max(4096)).max(200);

function readPatterns(env: Readonly<Record<string, string | undefined>>, name: string): string[] {
  const value = env[name];
  if (value === undefined || value === '') return [];
  const parsed = patterns.safeParse(parseJson(value));
  const isPattern = (text: string): boolean =>
    !/\p{Cc}/u.test(text) &&
    (text.includes('/')
      ? /^(\/|~\/)[^*]+$/.test(text)
      : !['~', '.', '..', '*'].includes(text) && text.split('*').length <= 2);
  if (parsed.success && parsed.data.every(isPattern)) return parsed.data;
  throw new ReinsError(
    'invalid_parameter',
    `${name} has to be a JSON array of at most 200 paths that begin with / or ~/ and have no *, or file names with at most one *, such as ["~/keys","*.key"]; correct or unset it.`,
  );
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
