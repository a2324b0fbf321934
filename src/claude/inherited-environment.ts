/**
 * What a Claude Code puts into the environment of everything that it starts, as measured. A Claude Code that finds it
 * takes itself for a part of that one: its session, its effort, its entry point.
 */
const OF_A_SURROUNDING_CLAUDE = new Set([
  'CLAUDECODE',
  'CLAUDE_EFFORT',
  'CLAUDE_PID',
  'AI_AGENT',
  'COREPACK_ENABLE_AUTO_PIN',
  'NoDefaultCurrentDirectoryInExePath',
]);

/**
 * Names with this prefix come from a surrounding Claude Code or are the user's settings. These are the user's: how to
 * sign in and where to, and what to switch off.
 */
const CLAUDE_CODE_PREFIX = 'CLAUDE_CODE_';
const SETTINGS_OF_THE_USER =
  /^CLAUDE_CODE_(OAUTH_TOKEN|OAUTH_REFRESH_TOKEN|OAUTH_SCOPES|API_KEY_HELPER_TTL_MS|USE_[A-Z_]+|SKIP_[A-Z_]+|DISABLE_[A-Z_]+|ENABLE_[A-Z_]+|MAX_[A-Z_]+|CLIENT_[A-Z_]+|CERT_STORE|SHELL|SHELL_PREFIX|TMPDIR|SUBAGENT_MODEL|EFFORT_LEVEL|AUTO_COMPACT_WINDOW|PROXY_RESOLVES_HOSTS)$/;

/**
 * The environment that a run of the user's own Claude Code gets: the adapter's, since sign-in and settings are the
 * user's affair, without what belongs to a surrounding Claude Code, to the host that started the adapter
 * (`COMPUTER_MCP*`) or to Reins.
 */
export function inheritedEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && isPassedOn(entry[0]),
    ),
  );
}

function isPassedOn(name: string): boolean {
  if (name.startsWith('COMPUTER_MCP') || name.startsWith('REINS_')) return false;
  if (OF_A_SURROUNDING_CLAUDE.has(name)) return false;
  return !name.startsWith(CLAUDE_CODE_PREFIX) || SETTINGS_OF_THE_USER.test(name);
}
