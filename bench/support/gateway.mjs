import { Client } from '@modelcontextprotocol/client';
import {
  DEFAULT_INHERITED_ENV_VARS,
  StdioClientTransport,
} from '@modelcontextprotocol/client/stdio';
import { REINS_BIN } from './product-files.mjs';

/** The transport adds these of this process to an environment, unless they are in it. */
const NOT_INHERITED = Object.fromEntries(
  DEFAULT_INHERITED_ENV_VARS.map((name) => [name, undefined]),
);

/** Starts `reins stdio` and connects an MCP client to it. */
export function connectGateway(workspace) {
  return connect('stdio', workspace, workspace.env);
}

/** Starts `reins delegate` and connects an MCP client to it. Runs get its environment and work in the project. */
export function connectDelegate(workspace, env = workspace.env) {
  return connect('delegate', workspace, env);
}

async function connect(command, workspace, env) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [REINS_BIN, command],
    env: { ...NOT_INHERITED, ...env },
    cwd: workspace.project,
    stderr: 'ignore',
  });
  const client = new Client({ name: 'reins-bench', version: '1' });
  await client.connect(transport);
  return { client, pid: transport.pid, close: () => client.close() };
}

let keys = 0;

/** A key for an idempotent call that no other call of this run uses. */
export function freshKey() {
  keys += 1;
  return `bench-${process.pid}-${keys}`;
}

/** Calls a tool and returns what the client receives as structured content. A refusal is thrown. */
export async function callTool(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  const state = result.structuredContent;
  // The delegate door has everything under `result`.
  const { error } = state.result ?? state;
  if (result.isError) throw new Error(`${name}: ${error?.code}: ${error?.message}`);
  return state;
}
