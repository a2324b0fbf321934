import { createLog } from '../../base/log.ts';
import { createNativeServer } from '../../mcp/native/server.ts';
import { serveOverStdio } from '../../mcp/stdio-front.ts';
import type { ContentMode } from '../../mcp/to-tool-result.ts';
import type { Environment } from '../environment.ts';
import { openGateway } from '../open-gateway.ts';
import { VERSION } from '../version.ts';

/** `reins stdio`: ends when the client closes stdin; sessions go on without it. */
export async function runStdio(environment: Environment, content: ContentMode): Promise<void> {
  const log = createLog('gateway');
  const { service } = openGateway(environment);
  await serveOverStdio(() => createNativeServer({ version: VERSION, service, content, log }), log);
  process.exit(0);
}
