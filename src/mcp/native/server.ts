import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool,
} from '@modelcontextprotocol/server';
import type { Log } from '../../base/log.ts';
import { ReinsError } from '../../base/reins-error.ts';
import type { SessionService } from '../../session/session-service.ts';
import { parseArguments } from '../parse-arguments.ts';
import { toInputSchema } from '../to-input-schema.ts';
import type { ContentMode } from '../to-tool-result.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { OUTPUT_SCHEMA } from './output-schema.ts';
import { toErrorResult, toStateResult } from './results.ts';
import { NATIVE_TOOLS } from './tools.ts';

export interface NativeServerOptions {
  readonly version: string;
  readonly service: SessionService;
  readonly content: ContentMode;
  readonly log: Log;
  /** The protocol of a request that carries it by itself; else the one that the connection negotiated counts. */
  readonly protocolVersion?: string;
}

/** What `tools/list` answers. Built once: it is the same for every client. */
export const LISTED_TOOLS: Tool[] = NATIVE_TOOLS.map((tool) => ({
  name: tool.name,
  description: tool.description,
  inputSchema: toInputSchema(tool.input),
  outputSchema: OUTPUT_SCHEMA,
  annotations: { ...tool.annotations },
}));

/**
 * The MCP server of the drive door: initialisation, the list of exactly six tools and their calls. It starts no
 * process and proxies no other server; methods that it has no handler for are refused by the SDK.
 */
export function createNativeServer(options: NativeServerOptions): Server {
  const server = new Server(
    { name: 'reins', title: 'Reins', version: options.version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', () => ({ tools: LISTED_TOOLS }));
  server.setRequestHandler('tools/call', async ({ params }): Promise<CallToolResult> => {
    const tool = NATIVE_TOOLS.find(({ name }) => name === params.name);
    if (tool === undefined) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no tool "${params.name.slice(0, 100)}"; the tools are ${NATIVE_TOOLS.map(({ name }) => name).join(', ')}. If another name was listed before, refresh the connector.`,
      );
    }
    const protocol = options.protocolVersion ?? server.getNegotiatedProtocolVersion();
    try {
      const input = parseArguments(tool, params.arguments ?? {});
      const state = await tool.call(input, options.service);
      return toStateResult(state, options.content, protocol);
    } catch (error) {
      if (!(error instanceof ReinsError)) {
        options.log.error({ tool: tool.name, error: String(error) }, 'a call failed');
      }
      return toErrorResult(error, options.content, protocol);
    }
  });
  return server;
}
