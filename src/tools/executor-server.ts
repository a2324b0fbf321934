import * as z from 'zod';
import { parseJson } from '../base/parse-json.ts';
import type { Executor } from './executor.ts';
import type { Tool } from './tool.ts';
import { describeTool } from './tool-set.ts';

/** The protocol revisions whose initialize, list and call are the ones below; the newest is offered to others. */
const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'];
/** Where Claude Code puts the id of the block that a call comes from. */
const TOOL_USE_META = 'claudecode/toolUseId';

const requestSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.looseObject({}).optional(),
});

const initializeSchema = z.looseObject({ protocolVersion: z.string() });

const callSchema = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.json()).optional(),
  _meta: z.looseObject({ [TOOL_USE_META]: z.string().optional() }).optional(),
});

/** What a method came to: a result or a JSON-RPC error. */
type Outcome =
  | { readonly result: object }
  | { readonly error: { readonly code: number; readonly message: string } };

const failure = (code: number, message: string): Outcome => ({ error: { code, message } });

export interface ExecutorServer {
  /** The answer to one JSON-RPC message, or undefined where none is due. */
  answer(line: string): Promise<string | undefined>;
}

/**
 * The session's only MCP server, for its own Claude Code: the four methods that it uses. It is written out here
 * because a session waits most of its life, and a general server would double what it holds in memory meanwhile.
 * Whoever mounts it sees to it that nobody but that Claude Code can reach it.
 */
export function createExecutorServer(tools: readonly Tool[], executor: Executor): ExecutorServer {
  // Made when it is asked for, since Claude Code is still starting then and this process has nothing else to do.
  const listTools = (): object[] =>
    tools.map((tool) => {
      const { name, description, input_schema: inputSchema } = describeTool(tool);
      const annotations = { readOnlyHint: tool.kind === 'observe', openWorldHint: false };
      return { name, description, inputSchema, annotations };
    });

  async function dispatch(method: string, params: unknown): Promise<Outcome> {
    switch (method) {
      case 'initialize': {
        const asked = initializeSchema.safeParse(params).data?.protocolVersion;
        const protocolVersion = PROTOCOL_VERSIONS.find((version) => version === asked);
        return {
          result: {
            protocolVersion: protocolVersion ?? PROTOCOL_VERSIONS[0],
            capabilities: { tools: {} },
            serverInfo: { name: 'reins-executor', version: '1' },
          },
        };
      }
      case 'ping':
        return { result: {} };
      case 'tools/list':
        return { result: { tools: listTools() } };
      case 'tools/call': {
        const call = callSchema.safeParse(params);
        if (!call.success) return failure(-32602, 'The parameters of tools/call are invalid.');
        const receipt = await executor.execute({
          tool: call.data.name,
          input: call.data.arguments ?? {},
          toolUseId: call.data._meta?.[TOOL_USE_META],
        });
        // Plain content alone: Claude Code drops it when structured content stands beside it.
        return {
          result: { content: [{ type: 'text', text: receipt.text }], isError: receipt.is_error },
        };
      }
      default:
        return failure(-32601, 'There is no such method.');
    }
  }

  return {
    async answer(line) {
      const parsed = requestSchema.safeParse(parseJson(line));
      if (!parsed.success) {
        return toMessage(null, failure(-32600, 'The line is no JSON-RPC request.'));
      }
      const { id, method, params } = parsed.data;
      return id === undefined ? undefined : toMessage(id, await dispatch(method, params));
    },
  };
}

function toMessage(id: string | number | null, outcome: Outcome): string {
  return JSON.stringify({ jsonrpc: '2.0', id, ...outcome });
}
