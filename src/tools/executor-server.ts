import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Executor } from './executor.ts';
import type { Tool } from './tool.ts';
import { describeTool } from './tool-set.ts';

/** Largest request that Claude Code sends here: the arguments of one call, which a reply bounds to 768 KiB. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

/** Where Claude Code puts the id of the block that a call comes from. */
const TOOL_USE_META = 'claudecode/toolUseId';

const inputSchema = z.record(z.string(), z.json());

/** The session's only MCP server, over HTTP. Whoever mounts it has checked the caller's key. */
export function createExecutorServer(
  tools: readonly Tool[],
  executor: Executor,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const described = tools.map((tool) => {
    const { name, description, input_schema: schema } = describeTool(tool);
    return {
      name,
      description,
      inputSchema: { ...schema, type: 'object' as const },
      annotations: { readOnlyHint: tool.kind === 'observe', openWorldHint: false },
    };
  });
  const handler = createMcpHandler(
    () => {
      const server = new Server(
        { name: 'reins-executor', version: '1' },
        { capabilities: { tools: {} } },
      );
      server.setRequestHandler('tools/list', () => ({ tools: described }));
      server.setRequestHandler('tools/call', async ({ params }) => {
        const toolUseId = params._meta?.[TOOL_USE_META];
        const receipt = await executor.execute({
          tool: params.name,
          input: inputSchema.parse(params.arguments ?? {}),
          toolUseId: typeof toolUseId === 'string' ? toolUseId : undefined,
        });
        // Plain content alone: Claude Code drops it when structured content stands beside it.
        return { content: [{ type: 'text', text: receipt.text }], isError: receipt.is_error };
      });
      return server;
    },
    { maxRequestBodySize: MAX_REQUEST_BYTES },
  );
  const serve = toNodeHandler(handler, { maxRequestBodySize: MAX_REQUEST_BYTES });
  return (request, response) => serve(request, response);
}
