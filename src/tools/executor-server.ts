import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { parseJson } from '../base/parse-json.ts';
import { readBody } from '../base/read-body.ts';
import type { Executor } from './executor.ts';
import type { Tool } from './tool.ts';
import { describeTool } from './tool-set.ts';

/** Largest request that Claude Code sends here: the arguments of one call, which a reply bounds to 768 KiB. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;
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

/**
 * The session's only MCP server, for its own Claude Code: the four methods that it uses, one JSON answer to a POST. It
 * is written out here because a session waits most of its life, and a general server would double what it holds in
 * memory meanwhile. Whoever mounts it has checked the caller's key.
 */
export function createExecutorServer(
  tools: readonly Tool[],
  executor: Executor,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
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

  return async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405, { allow: 'POST' }).end();
      return;
    }
    const body = await readBody(request, MAX_REQUEST_BYTES);
    const parsed = requestSchema.safeParse(body && parseJson(body.toString('utf8')));
    if (!parsed.success) {
      send(response, 400, null, failure(-32600, 'The body is no JSON-RPC request.'));
      return;
    }
    const { id, method, params } = parsed.data;
    if (id === undefined) response.writeHead(202).end();
    else send(response, 200, id, await dispatch(method, params));
  };
}

function send(
  response: ServerResponse,
  status: number,
  id: string | number | null,
  outcome: Outcome,
): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
}
