import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** Where a session's Claude Code finds its model: a unix socket in a directory that the user alone may enter. */
export interface ModelSocket {
  close(): void;
}

/** A key that nobody else on the machine knows; it dies with the process that it was made for. */
export function mintModelKey(): string {
  return randomBytes(32).toString('base64url');
}

export async function startModelSocket(
  path: string,
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<ModelSocket> {
  const server = createServer((request, response) => {
    serve(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  });
  // A held turn can stay open for days: no limit of Node's own may end it.
  server.requestTimeout = 0;
  server.timeout = 0;
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return {
    close() {
      server.close();
      server.closeAllConnections();
      rmSync(path, { force: true });
    },
  };
}
