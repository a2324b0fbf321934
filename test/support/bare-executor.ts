import { join } from 'node:path';
import { makeExecutorPipes, openExecutorPipes } from '../../src/runner/executor-pipes.ts';
import { createExecutorServer } from '../../src/tools/executor-server.ts';
import { toolsFor } from '../../src/tools/tool-set.ts';

/** The executor's MCP server behind two pipes, offering the read-only tools and carrying out nothing. */
export async function startBareExecutor(
  directory: string,
): Promise<{ readonly requests: string; readonly answers: string; close(): void }> {
  const [requests, answers] = [join(directory, 'requests'), join(directory, 'answers')];
  await makeExecutorPipes([requests, answers]);
  const server = createExecutorServer(toolsFor('read_only'), {
    execute: async () => ({ text: 'nothing', is_error: false, truncated: false, code: null }),
    stop: () => {},
    drain: async () => {},
  });
  const onFault = (error: unknown): never => {
    throw error;
  };
  return { requests, answers, close: openExecutorPipes(requests, answers, server, onFault).close };
}
