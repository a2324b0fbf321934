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
  const args = [
    ...['-p', '--bare', '--setting-sources', '', '--strict-mcp-config'],
    ...['--tools', 'Read', '--allowedTools', 'Read', '--permission-mode', 'dontAsk'],
    ...['--disable-slash-commands', '--output-format', 'stream-json', '--verbose'],
    ...[...conversation, '--', prompt],
  ];
  const env = { ...toClaudeEnv(workspace, api), HOME: home, CLAUDE_CONFIG_DIR: configDirectory };
  const { child, ended } = spawnClaude(workspace, args, env);
  return {
    /** The next request of its agent loop; throws if it ends instead. */
    nextRequest: () =>
      Promise.race([
        api.next(),
        ended.then(({ code, signal, said }) => {
          throw new Error(`bare Claude ended (${signal ?? code}) before it asked: ${said}`);
        }),
      ]),
    /** Resolves when it has ended by itself; throws unless that was a success. */
    completed: () => ended.then(requireSuccess),
    async end() {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
      await ended;
    },
  };
}

/** Runs Claude Code by itself until it has ended and its output with it. Throws unless that was a success. */
export async function runBareClaude(workspace, args, env) {
  requireSuccess(await spawnClaude(workspace, args, env).ended);
}

/** What Claude Code needs to reach a Messages API that answers from a script, and nothing else. */
export function toClaudeEnv(workspace, api) {
  return {
    HOME: workspace.env.HOME,
    PATH: workspace.env.PATH,
    ANTHROPIC_BASE_URL: api.baseUrl,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
}

function spawnClaude(workspace, args, env) {
  const child = spawn(workspace.env.CLAUDE_BIN, args, {
    cwd: workspace.project,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text) => {
      said = (said + text).slice(-500);
    });
  }
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, said }));
  });
  return { child, ended };
}

function requireSuccess({ code, signal, said }) {
  if (code !== 0) throw new Error(`bare Claude ended (${signal ?? code}): ${said}`);
}
