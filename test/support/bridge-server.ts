import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createBridge, type TurnRequest } from '../../src/bridge/bridge.ts';

export const BRIDGE_KEY = 'test-key';

/** A bridge on a loopback port, and on a unix socket if one is named, that collects the turn requests it gets. */
export interface BridgeServer {
  readonly baseUrl: string;
  readonly turns: TurnRequest[];
  /** Paths of every request, in order. */
  readonly requests: string[];
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<BridgeAnswer>;
  close(): Promise<void>;
}

export interface BridgeAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** The whole body; resolves when the response has ended. */
  readonly body: Promise<string>;
  /** What has arrived so far. */
  soFar(): string;
}

export async function startBridge(
  heartbeatMs?: number,
  socketPath?: string,
): Promise<BridgeServer> {
  const turns: TurnRequest[] = [];
  const requests: string[] = [];
  const bridge = createBridge({
    key: BRIDGE_KEY,
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    onTurnRequest: (turn) => turns.push(turn),
  });
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    void bridge(request, response);
  };
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const local = createServer(serve);
  if (socketPath !== undefined) {
    await new Promise<void>((resolve) => local.listen(socketPath, resolve));
  }
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    turns,
    requests,
    post: (path, body, headers = { 'x-api-key': BRIDGE_KEY }) => post(port, path, body, headers),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        local.close();
        local.closeAllConnections();
      }),
  };
}

function post(
  port: number,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<BridgeAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, path, method: 'POST', headers },
      (response) => {
        let received = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          received += chunk;
        });
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: new Promise((done) => response.once('close', () => done(received))),
          soFar: () => received,
        });
      },
    );
    request.once('error', reject);
    request.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}
