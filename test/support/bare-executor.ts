import { createServer } from 'node:http';
import { createExecutorServer } from '../../src/tools/executor-server.ts';
import { toolsFor } from '../../src/tools/tool-set.ts';

/** The executor's MCP server on a loopback port, offering the read-only tools and carrying out nothing. */
export async function startBareExecutor(): Promise<{ readonly url: string; close(): void }> {
  const serve = createExecutorServer(toolsFor('read_only'), {
    execute: async () => ({ text: 'nothing', is_error: false, truncated: false, code: null }),
    drain: async () => {},
  });
  const server = createServer((request, response) => {
    void serve(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
