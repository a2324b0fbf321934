import { createServer } from 'node:http';

/**
 * A proxy on 127.0.0.1 that refuses everything and remembers what was asked. Programs that are told of it in `env`
 * show here whatever they wanted from elsewhere, and get none of it.
 */
export async function watchOutside() {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(403).end();
  });
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    // A client may hang up before it has read the refusal.
    socket.on('error', () => {});
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy = `http://127.0.0.1:${server.address().port}`;
  return {
    env: {
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      ALL_PROXY: proxy,
      http_proxy: proxy,
      https_proxy: proxy,
      NO_PROXY: '127.0.0.1,localhost',
      no_proxy: '127.0.0.1,localhost',
      NODE_USE_ENV_PROXY: '1',
    },
    expectNone() {
      if (asked.length > 0) throw new Error(`asked for the outside: ${asked.join(', ')}`);
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
