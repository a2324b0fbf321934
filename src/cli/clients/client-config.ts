/** MCP clients whose configuration Reins can write out. */
export const CLIENTS = ['codex', 'claude-desktop', 'cursor', 'vscode', 'gemini'] as const;
export type ClientName = (typeof CLIENTS)[number];

export type Door = 'stdio' | 'delegate';

export interface ClientConfig {
  /** Where the text belongs. */
  readonly place: string;
  readonly text: string;
}

/** As long as a run may take, and a little more for its end. */
const RUN_SECONDS = 1_860;
/** A call of the drive door never takes as long. */
const CALL_SECONDS = 60;

/**
 * What to put into a client's configuration so that it starts Reins, with absolute paths and the longest time that a
 * call may take where the client can be told so.
 */
export function toClientConfig(
  client: ClientName,
  door: Door,
  node: string,
  bin: string,
): ClientConfig {
  const name = door === 'delegate' ? 'reins-delegate' : 'reins';
  const server = { command: node, args: [bin, door] };
  const seconds = door === 'delegate' ? RUN_SECONDS : CALL_SECONDS;
  switch (client) {
    case 'codex':
      return {
        place: '~/.codex/config.toml',
        // JSON strings and arrays of them are TOML as well.
        text: [
          `[mcp_servers.${name}]`,
          `command = ${JSON.stringify(node)}`,
          `args = ${JSON.stringify(server.args)}`,
          `tool_timeout_sec = ${seconds}`,
        ].join('\n'),
      };
    case 'claude-desktop':
      return {
        place:
          'claude_desktop_config.json (Settings, Developer, Edit Config), inside what is there already',
        text: toJson({ mcpServers: { [name]: server } }),
      };
    case 'cursor':
      return {
        place: '~/.cursor/mcp.json, or .cursor/mcp.json of a project',
        text: toJson({ mcpServers: { [name]: server } }),
      };
    case 'vscode':
      return {
        place:
          '.vscode/mcp.json of a project, or the user configuration (MCP: Open User Configuration)',
        text: toJson({ servers: { [name]: { type: 'stdio', ...server } } }),
      };
    case 'gemini':
      return {
        place: '~/.gemini/settings.json, inside what is there already',
        text: toJson({ mcpServers: { [name]: { ...server, timeout: seconds * 1000 } } }),
      };
  }
}

function toJson(value: object): string {
  return JSON.stringify(value, null, 2);
}
