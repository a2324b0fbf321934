import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { REINS_BIN } from './product-files.mjs';

/** Starts `reins stdio` and connects an MCP client to it. */
export async function connectGateway(workspace) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [REINS_BIN, 'stdio'],
    env: workspace.env,
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
  if (result.isError) throw new Error(`${name}: ${state.error?.code}: ${state.error?.message}`);
  return state;
}
