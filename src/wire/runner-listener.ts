import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { RunnerId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import { secretsEqual } from '../base/session-tokens.ts';
import { readFrames, writeFrame } from './frames.ts';
import {
  helloSchema,
  requestSchema,
  type Welcome,
  WIRE_VERSION,
  type WireRequest,
} from './protocol.ts';

/** A connection that has not greeted within this time is closed, in milliseconds. */
const GREETING_TIMEOUT_MS = 3_000;

export interface ListenerOptions {
  readonly socketPath: string;
  readonly runnerId: RunnerId;
  readonly token: string;
  readonly welcome: Omit<Welcome, 'wire_version'>;
  handle(request: WireRequest): Promise<{ readonly replay: boolean }>;
}

/**
 * Serves the runner's private socket (0600, in a 0700 directory). A file left at the path by a dead runner is
 * replaced; that the session has no other live runner is for the caller to have made sure.
 */
export function listenForGateways(options: ListenerOptions): Promise<Server> {
  rmSync(options.socketPath, { force: true });
  const server = createServer((socket) => serveGateway(socket, options));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.socketPath, () => {
      chmodSync(options.socketPath, 0o600);
      server.off('error', reject);
      resolve(server);
    });
  });
}

function serveGateway(socket: Socket, options: ListenerOptions): void {
  socket.on('error', () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), GREETING_TIMEOUT_MS);
  socket.once('close', () => clearTimeout(timer));
  let greeted = false;
  readFrames(socket, (value) => {
    if (!greeted) {
      if (!isWelcome(value, options)) {
        socket.destroy();
        return;
      }
      greeted = true;
      clearTimeout(timer);
      writeFrame(socket, { wire_version: WIRE_VERSION, ...options.welcome });
      return;
    }
    const request = requestSchema.safeParse(value);
    if (!request.success) {
      socket.destroy();
      return;
    }
    void answer(socket, request.data, options);
  });
}

function isWelcome(value: unknown, options: ListenerOptions): boolean {
  const hello = helloSchema.safeParse(value);
  return (
    hello.success &&
    hello.data.wire_version === WIRE_VERSION &&
    hello.data.runner_id === options.runnerId &&
    secretsEqual(hello.data.token, options.token)
  );
}

async function answer(
  socket: Socket,
  request: WireRequest,
  options: ListenerOptions,
): Promise<void> {
  try {
    writeFrame(socket, { id: request.id, ok: await options.handle(request) });
  } catch (error) {
    const known = error instanceof ReinsError;
    writeFrame(socket, {
      id: request.id,
      error: {
        code: known ? error.code : 'internal',
        message: known
          ? error.message
          : 'The session process failed in a way that it does not know; see the runner log of this session.',
      },
    });
  }
}
