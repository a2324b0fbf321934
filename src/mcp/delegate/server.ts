import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Tool,
} from '@modelcontextprotocol/server';
import type { Log } from '../../base/log.ts';
import { ReinsError } from '../../base/reins-error.ts';
import type { RunRegistry } from '../../delegate/run-registry.ts';
import { WORK_URI, type WorkResource } from '../../delegate/work-resource.ts';
import { parseArguments } from '../parse-arguments.ts';
import { type ContentMode, toToolResult } from '../to-tool-result.ts';
import { type CallMetadata, parseCallMetadata, toHostMetadata } from './host-metadata.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { NO_RUN } from './output-schemas.ts';
import { watchRun } from './progress.ts';
import type { DelegateTool, ToolAnswer } from './tool.ts';
import { DELEGATE_TOOLS } from './tools.ts';

export interface DelegateServerOptions {
  readonly version: string;
  readonly registry: RunRegistry;
  readonly work: WorkResource;
  /** Where runs work that name no directory. */
  readonly directory: string;
  readonly content: ContentMode;
  readonly log: Log;
}

/** D2: an older date than these is answered with the newest, like any that is not known. */
const OLDEST_PROTOCOL = '2024-11-05';

const LISTED_TOOLS: Tool[] = DELEGATE_TOOLS.map((tool) => ({
  name: tool.name,
  description: tool.description,
  inputSchema: tool.inputSchema,
  outputSchema: tool.outputSchema,
  annotations: { ...tool.annotations },
  _meta: toHostMetadata(tool),
}));

const WORK_RESOURCE = {
  uri: WORK_URI,
  name: 'work',
  title: 'Runs of this connection',
  description: 'Every run that this connection holds, and for whom a host has bound it.',
  mimeType: 'application/json',
};

/** The MCP server of the delegate door: seven tools and one resource, over the runs of one connection. */
export function createDelegateServer(options: DelegateServerOptions): Server {
  const { registry, work, directory, content, log } = options;
  const server = new Server(
    { name: 'reins-delegate', title: 'Reins: delegate', version: options.version },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: INSTRUCTIONS,
      supportedProtocolVersions: SUPPORTED_PROTOCOL_VERSIONS.filter(
        (date) => date >= OLDEST_PROTOCOL,
      ),
    },
  );
  server.setRequestHandler('tools/list', () => ({ tools: LISTED_TOOLS }));
  server.setRequestHandler('resources/list', () => ({ resources: [WORK_RESOURCE] }));
  server.setRequestHandler('resources/read', ({ params }) => {
    if (params.uri !== WORK_URI) throw new ResourceNotFoundError(params.uri);
    return { contents: [{ uri: WORK_URI, mimeType: 'application/json', text: readWork(work) }] };
  });
  server.setRequestHandler(
    'tools/call',
    async ({ params }, { mcpReq }): Promise<CallToolResult> => {
      const tool = requireTool(params.name);
      const { invocation, progressToken } = requireMetadata(params._meta);
      const protocol = server.getNegotiatedProtocolVersion();
      const answer = (given: ToolAnswer): CallToolResult => ({
        ...toToolResult({ result: given.result }, given.line, content, protocol),
        ...(given.isError ? { isError: true } : {}),
      });
      try {
        const input = parseArguments(tool, params.arguments ?? {});
        return answer(
          await tool.call(input, {
            ...{ registry, directory, invocation, signal: mcpReq.signal },
            watch: (run) =>
              progressToken === undefined
                ? { stop() {} }
                : watchRun(run, (update) => {
                    const message = { progressToken, ...update };
                    mcpReq
                      .notify({ method: 'notifications/progress', params: message })
                      .catch(() => {});
                  }),
          }),
        );
      } catch (error) {
        if (!(error instanceof ReinsError)) {
          log.error({ tool: tool.name, error: String(error) }, 'a call failed');
        }
        return answer(toRefusal(error));
      }
    },
  );
  return server;
}

function requireTool(name: string): DelegateTool {
  const tool = DELEGATE_TOOLS.find((each) => each.name === name);
  if (tool !== undefined) return tool;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no tool "${name.slice(0, 100)}"; the tools are ${DELEGATE_TOOLS.map((each) => each.name).join(', ')}.`,
  );
}

function requireMetadata(meta: unknown): CallMetadata {
  const parsed = parseCallMetadata(meta);
  if (parsed !== undefined) return parsed;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    '_meta["io.github.computer-mcp/work-invocation"] has to be a UUID; correct it or leave it out.',
  );
}

function readWork(work: WorkResource): string {
  try {
    return JSON.stringify(work.read());
  } catch (error) {
    if (!(error instanceof ReinsError)) throw error;
    throw new ProtocolError(ProtocolErrorCode.InternalError, error.message, { code: error.code });
  }
}

/** D3: a refusal is a result that the calling model can read. An error that is not ours says nothing of its insides. */
function toRefusal(error: unknown): ToolAnswer {
  const known = error instanceof ReinsError;
  const code = known ? error.code : 'internal';
  const message = known
    ? error.message
    : 'The adapter failed in a way that it does not know; its log says more. claude.run.list shows which runs there are.';
  return {
    result: { ...NO_RUN, is_error: true, error: { code, message } },
    isError: true,
    line: `${code}: ${message}`,
  };
}
