import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Log } from '../base/log.ts';
import { secretsEqual } from '../base/session-tokens.ts';
import { createNativeServer, type NativeServerOptions } from './native/server.ts';

/** A reply of 768 KiB can take six times that in JSON escapes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

export interface HttpFrontOptions {
  readonly port: number;
  /** What clients present as `Authorization: Bearer`. */
  readonly token: string;
  readonly native: NativeServerOptions;
  readonly log: Log;
}

/** Serves MCP as Streamable HTTP at /mcp on 127.0.0.1. Every request is complete in itself; nothing is kept between. */
export async function startHttpFront(options: HttpFrontOptions): Promise<Server> {
  const { native, log } = options;
  const onerror = (error: Error): void => log.warn({ error: error.message }, 'request');
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const protocolVersion = requestInfo?.headers.get('mcp-protocol-version') ?? undefined;
      return createNativeServer({ ...native, ...(protocolVersion ? { protocolVersion } : {}) });
    },
    { maxRequestBodySize: MAX_BODY_BYTES, onerror },
  );
  const serve = toNodeHandler(handler, { maxRequestBodySize: MAX_BODY_BYTES, onerror });
  const hostAllowed = localhostHostValidation();
  const originAllowed = localhostOriginValidation();
  const server = createServer((request, response) => {
    if (!hostAllowed(request, response) || !originAllowed(request, response)) return;
    if (!isForMcp(request, response) || !isAuthorized(request, response, options.token)) return;
    void serve(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  return server;
}

function isForMcp(request: IncomingMessage, response: ServerResponse): boolean {
  if (request.url?.split('?')[0] === '/mcp') return true;
  refuse(response, 404, 'The MCP endpoint is /mcp.');
  return false;
}

function isAuthorized(request: IncomingMessage, response: ServerResponse, token: string): boolean {
  if (secretsEqual(request.headers.authorization ?? '', `Bearer ${token}`)) return true;
  response.setHeader('www-authenticate', 'Bearer');
  refuse(response, 401, 'Send "Authorization: Bearer" with the token that "reins serve" printed.');
  return false;
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const error = { jsonrpc: '2.0', id: null, error: { code: -32_000, message } };
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(error));
}
