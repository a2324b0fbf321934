import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { secretsEqual } from '../base/session-tokens.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The session's only listening port: on 127.0.0.1, for its own Claude Code, which has the two keys. */
export interface LoopbackServer {
  readonly baseUrl: string;
  readonly executorUrl: string;
  close(): void;
}

export interface LoopbackHandlers {
  readonly bridge: Handler;
  readonly executorKey: string;
  readonly executor: Handler;
}

/** A key that nobody else on the machine knows; it dies with the process that it was made for. */
export function mintLoopbackKey(): string {
  return randomBytes(32).toString('base64url');
}

export async function startLoopbackServer(handlers: LoopbackHandlers): Promise<LoopbackServer> {
  let port = 0;
  const server = createServer((request, response) => {
    route(request, response, handlers, port).catch(() => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  });
  // A held turn can stay open for days: no limit of Node's own may end it.
  server.requestTimeout = 0;
  server.timeout = 0;
  port = await listen(server);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    executorUrl: `http://127.0.0.1:${port}/mcp`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  handlers: LoopbackHandlers,
  port: number,
): Promise<void> {
  // A page in a browser that rebinds its name to 127.0.0.1 still sends that name.
  if (request.headers.host !== `127.0.0.1:${port}`) {
    response.writeHead(403).end();
    return;
  }
  if (request.url !== '/mcp') {
    await handlers.bridge(request, response);
    return;
  }
  if (!secretsEqual(request.headers.authorization ?? '', `Bearer ${handlers.executorKey}`)) {
    response.writeHead(401).end();
    return;
  }
  await handlers.executor(request, response);
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address !== null && typeof address === 'object') resolve(address.port);
      else reject(new Error('the loopback server has no port'));
    });
  });
}
