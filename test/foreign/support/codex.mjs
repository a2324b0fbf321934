import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPinned } from './install-pinned.mjs';
import { REINS_BIN } from './reins.mjs';
import { startResponsesApi } from './responses-api.mjs';
import { runProgram } from './run-program.mjs';

const CODEX = { name: '@openai/codex', version: '0.171.0' };
const SERVER = 'reins';
const NAMESPACE = `mcp__${SERVER}`;

/**
 * One MCP call of Codex's model, as both sides of Codex have to tell it.
 *
 * @typedef {object} Exchange
 * @property {string} tool as the server names it
 * @property {object} args
 * @property {object} state the structured result
 * @property {'completed' | 'failed'} status
 */

/**
 * Runs the Codex CLI once with Reins as its only MCP server, while a script plays its model, and checks Codex's own
 * record of the run against what the model saw.
 *
 * @param {object} options
 * @param {import('./test-home.mjs').TestHome} options.home
 * @param {(line: string) => void} options.say
 * @param {string} options.command the command of Reins that serves MCP over stdio
 * @param {Record<string, string>} options.env what that command is told beside the few variables that Codex lets through
 * @param {string[]} options.toolNames all that Codex has to offer of the server's, sorted
 * @param {(state: object) => boolean} options.isFailure whether a structured result is that of a call that failed
 * @param {string} options.task
 * @param {(callTool: (tool: string, args: object) => Generator<object, object, string>) => Generator<object, string, string>} options.playModel
 *   the model; it knows nothing but its tools and what their outputs say, and returns what it says at the end
 * @returns {Promise<Exchange[]>}
 */
export async function runCodex(options) {
  const { home, say, command, env, toolNames, isFailure, task, playModel } = options;
  const codex = installPinned(CODEX.name, CODEX.version, say);
  // Codex works somewhere else, so that nothing but Reins has to do with the project.
  const elsewhere = join(home.root, 'elsewhere');
  const codexHome = join(home.root, 'codex');
  mkdirSync(elsewhere);
  mkdirSync(codexHome);

  /** What the model called and was told, in order. */
  const exchanges = [];
  let lastWords;

  function* callTool(tool, args) {
    const output = yield { namespace: NAMESPACE, name: toModelName(tool), arguments: args };
    assert.match(output, /\{/, output);
    const state = JSON.parse(output.slice(output.indexOf('{')));
    exchanges.push({ tool, args, state, status: isFailure(state) ? 'failed' : 'completed' });
    return state;
  }

  function* play({ tools }) {
    const offered = tools.find(({ type, name }) => type === 'namespace' && name === NAMESPACE);
    assert.deepEqual(offered?.tools.map(({ name }) => name).sort(), toolNames.map(toModelName));
    lastWords = yield* playModel(callTool);
    return lastWords;
  }

  const api = await startResponsesApi(play);
  try {
    writeFileSync(join(codexHome, 'config.toml'), configuration(api.baseUrl, command, env));
    const { code, stdout, stderr } = await runProgram(
      process.execPath,
      [
        join(codex, 'bin', 'codex.js'),
        ...['exec', '--json', '--strict-config', '--skip-git-repo-check', '-C', elsewhere],
        task,
      ],
      { env: { ...home.env, CODEX_HOME: codexHome }, cwd: elsewhere, timeoutMs: 240_000 },
    );
    api.expectNoFailure();
    assert.equal(code, 0, stderr);
    expectThroughCodex(stdout, exchanges, lastWords, api.requests);
    say(`Codex carried out ${exchanges.length} MCP calls and nothing else`);
    return exchanges;
  } finally {
    await api.close();
  }
}

/** The names that Codex offers to its model have no other characters than these. */
function toModelName(tool) {
  return tool.replace(/[^A-Za-z0-9_]/g, '_');
}

/** No tool of Codex's own that could change a file, and nothing that would ask for the outside. */
function configuration(baseUrl, command, env) {
  const off = [
    'apps',
    'enable_request_compression',
    'goals',
    'multi_agent',
    'plugins',
    'remote_plugin',
    'shell_snapshot',
    'shell_tool',
    'unified_exec',
  ];
  const variables = Object.entries(env).map(
    ([name, value]) => `${name} = ${JSON.stringify(value)}`,
  );
  return `
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "read-only"
web_search = "disabled"
check_for_update_on_startup = false
analytics.enabled = false
feedback.enabled = false
${off.map((feature) => `features.${feature} = false`).join('\n')}

[model_providers.scripted]
name = "Scripted"
base_url = ${JSON.stringify(baseUrl)}
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0

[mcp_servers.${SERVER}]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([REINS_BIN, command])}
env = { ${variables.join(', ')} }
startup_timeout_sec = 30
tool_timeout_sec = 60
# Some tools are marked as destructive; where nobody can be asked, Codex refuses such tools without this.
default_tools_approval_mode = "approve"
`;
}

/** Codex's own record of its run names the same calls with the same results as the model saw, and no other act. */
function expectThroughCodex(stdout, exchanges, lastWords, requests) {
  for (const { url, headers } of requests) {
    assert.equal(url, '/v1/responses');
    assert.match(headers['user-agent'], new RegExp(`^codex_exec/${CODEX.version} `));
  }
  assert.equal(requests.length, exchanges.length + 1);
  const items = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === 'item.completed')
    .map(({ item }) => item);
  const calls = items.filter(({ type }) => type === 'mcp_tool_call');
  assert.deepEqual(
    calls.map(({ server, tool, arguments: args, status, result }) => ({
      ...{ server, tool, args, status },
      state: result?.structured_content,
    })),
    exchanges.map((exchange) => ({ server: SERVER, ...exchange })),
  );
  // As an "error" it says that it has no figures about a model of this name, and that a setting is deprecated.
  const others = items.filter(({ type }) => type !== 'mcp_tool_call' && type !== 'error');
  assert.deepEqual(
    others.map(({ type, text }) => `${type}: ${text}`),
    [`agent_message: ${lastWords}`],
  );
}
