import { createLog } from '../../base/log.ts';
import { ReinsError } from '../../base/reins-error.ts';
import { readOrCreateSecret } from '../../base/state-directory.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import { startHttpFront } from '../../mcp/http-front.ts';
import type { ContentMode } from '../../mcp/to-tool-result.ts';
import type { Environment } from '../environment.ts';
import { openGateway } from '../open-gateway.ts';
import { VERSION } from '../version.ts';

export interface ServeOptions {
  readonly port: number;
  readonly content: ContentMode;
  readonly json?: true;
}

/** `reins serve`: runs until it is told to end; sessions go on without it. */
export async function runServe(environment: Environment, options: ServeOptions): Promise<void> {
  const log = createLog('gateway');
  const { service, state } = openGateway(environment);
  const token = readOrCreateSecret(state.httpTokenFile);
  const native = { version: VERSION, service, content: options.content, log };
  const server = await startHttpFront({ port: options.port, token, native, log }).catch(
    (error: unknown) => {
      throw new ReinsError(
        'invalid_parameter',
        `Port ${options.port} on 127.0.0.1 cannot be used (${systemErrorCode(error) ?? 'unknown reason'}); choose another with --port.`,
      );
    },
  );
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : options.port;
  const url = `http://127.0.0.1:${port}/mcp`;
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ url, token })}\n`
      : describe(url, token, state.httpTokenFile),
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => process.exit(0));
  }
}

function describe(url: string, token: string, file: string): string {
  return `Reins listens on ${url}

Paste into an MCP client:
  URL             ${url}
  Authorization   Bearer ${token}

  Claude Code     claude mcp add --transport http reins ${url} --header "Authorization: Bearer ${token}"
  Codex           [mcp_servers.reins]
                  url = "${url}"
                  http_headers = { Authorization = "Bearer ${token}" }
                  default_tools_approval_mode = "approve"   # without it, "codex exec" refuses to reply and to stop

The token is kept in ${file}; whoever has it can start sessions as you.
ChatGPT on the web reaches public addresses only: it needs a tunnel of your choice to this one.
Sessions go on when this ends. End it with Ctrl-C.
`;
}
