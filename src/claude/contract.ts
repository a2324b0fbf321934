/**
 * What Reins relies on in Claude Code, for the versions that it was measured with. Everything that knows the
 * command line, the variables or the wording of Claude Code is in this folder.
 */
export const SUPPORTED_CLAUDE_VERSIONS: readonly string[] = ['2.1.247'];

/** The name of the only MCP server that a session has, and with it the prefix of every tool. */
export const EXECUTOR_SERVER_NAME = 'executor';

/** How Claude Code names an executor tool in its Messages requests. */
export function toClaudeToolName(tool: string): string {
  return `mcp__${EXECUTOR_SERVER_NAME}__${tool}`;
}

/** The executor tool behind a name of Claude Code's, or undefined for a tool that is not the executor's. */
export function fromClaudeToolName(name: string): string | undefined {
  const prefix = toClaudeToolName('');
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
}

/** Longer than any lease (7 days), so that the lease is what ends a wait. Milliseconds; fits a 32-bit timer. */
const NO_LIMIT_MS = String(8 * 24 * 60 * 60 * 1000);
/** Above the longest command that an executor tool may run (900 s). Milliseconds. */
const TOOL_LIMIT_MS = String(20 * 60 * 1000);

export interface ClaudeLaunch {
  readonly home: string;
  readonly configDirectory: string;
  readonly runtimeDirectory: string;
  /** Unix socket of the bridge. */
  readonly modelSocket: string;
  /** Lets this process, and nobody else on the machine, use the bridge. Lives as long as the process. */
  readonly bridgeKey: string;
  readonly mcpConfigFile: string;
  readonly tools: readonly string[];
  readonly sessionId: string;
  /** Whether Claude Code has a saved conversation with this id. */
  readonly resume: boolean;
  readonly compactWindowTokens: number | null;
}

/** The exact arguments of a session's process: no built-in tool, no setting, skill, hook or server of the user's. */
export function claudeArguments(launch: ClaudeLaunch): string[] {
  return [
    '-p',
    '--bare',
    '--setting-sources',
    '',
    '--strict-mcp-config',
    '--mcp-config',
    launch.mcpConfigFile,
    '--tools',
    '',
    '--disable-slash-commands',
    '--permission-mode',
    'dontAsk',
    '--allowedTools',
    launch.tools.map(toClaudeToolName).join(','),
    '--input-format',
    'stream-json',
    '--output-format',
    'stream-json',
    '--verbose',
    launch.resume ? '--resume' : '--session-id',
    launch.sessionId,
  ];
}

/**
 * The whole environment of a session's process. The time limits are lifted here, and the bridge's heartbeat keeps
 * the stream alive as well: either alone holds for hours, and a release may rename a variable.
 */
export function claudeEnvironment(launch: ClaudeLaunch): Record<string, string> {
  return {
    HOME: launch.home,
    PATH: '/usr/bin:/bin',
    TMPDIR: launch.runtimeDirectory,
    LANG: 'C.UTF-8',
    CLAUDE_CONFIG_DIR: launch.configDirectory,
    // All model requests go through the socket; the address is one that nothing listens on.
    ANTHROPIC_UNIX_SOCKET: launch.modelSocket,
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
    ANTHROPIC_API_KEY: launch.bridgeKey,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_GROWTHBOOK: '1',
    DISABLE_INSTALLATION_CHECKS: '1',
    // All traffic is plain HTTP: reading the system's certificates only costs time at the start.
    CLAUDE_CODE_CERT_STORE: 'bundled',
    CLAUDE_CODE_EAGER_FLUSH: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
    CLAUDE_ENABLE_STREAM_WATCHDOG: '0',
    CLAUDE_ENABLE_BYTE_WATCHDOG: '0',
    API_FORCE_IDLE_TIMEOUT: '0',
    API_TIMEOUT_MS: NO_LIMIT_MS,
    MCP_TOOL_TIMEOUT: TOOL_LIMIT_MS,
    CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: TOOL_LIMIT_MS,
    ...(launch.compactWindowTokens === null
      ? {}
      : { CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(launch.compactWindowTokens) }),
  };
}
