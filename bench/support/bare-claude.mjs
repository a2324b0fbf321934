import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Starts Claude Code by itself, as bare as it gets: its own Read and no MCP server, one prompt as an argument, no more
 * environment than it needs to reach a Messages API that answers from a script.
 *
 * @param home its HOME and configuration, made when missing; given again, a conversation can be resumed there
 * @param conversation `['--session-id', id]` or `['--resume', id]`
 */
export function startBareClaude({ workspace, home, api, conversation, prompt }) {
  const configDirectory = join(home, 'claude');
  mkdirSync(configDirectory, { recursive: true });
  const child = spawn(
    workspace.env.CLAUDE_BIN,
    [
      ...['-p', '--bare', '--setting-sources', '', '--strict-mcp-config'],
      ...['--tools', 'Read', '--allowedTools', 'Read', '--permission-mode', 'dontAsk'],
      ...['--disable-slash-commands', '--output-format', 'stream-json', '--verbose'],
      ...[...conversation, '--', prompt],
    ],
    {
      cwd: workspace.project,
      env: {
        HOME: home,
        PATH: workspace.env.PATH,
        CLAUDE_CONFIG_DIR: configDirectory,
        ANTHROPIC_BASE_URL: api.baseUrl,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text) => {
      said = (said + text).slice(-500);
    });
  }
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  return {
    /** The next request of its agent loop; throws if it ends instead. */
    nextRequest: () =>
      Promise.race([
        api.next(),
        ended.then(({ code, signal }) => {
          throw new Error(`bare Claude ended (${signal ?? code}) before it asked: ${said}`);
        }),
      ]),
    /** Resolves when it has ended by itself; throws unless that was a success. */
    async completed() {
      const { code, signal } = await ended;
      if (code !== 0) throw new Error(`bare Claude ended (${signal ?? code}): ${said}`);
    },
    async end() {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
      await ended;
    },
  };
}
