import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { alternate } from '../support/alternate.mjs';
import { startBareClaude } from '../support/bare-claude.mjs';
import { connectGateway } from '../support/gateway.mjs';
import { startMessagesApi } from '../support/messages-api.mjs';
import { ratioResult } from '../support/results.mjs';
import { startSession } from '../support/session.mjs';
import { withWorkspace } from '../support/workspace.mjs';

/** native_session_start until its first pending turn is here, against bare Claude from spawn to its first request. */
export function measureStart({ runs, progress }) {
  return withWorkspace(async (workspace) => {
    const gateway = await connectGateway(workspace);
    const api = await startMessagesApi();
    const ours = async () => {
      const startedAt = performance.now();
      const session = await startSession(gateway.client, workspace.project);
      const ms = performance.now() - startedAt;
      await session.stop();
      return ms;
    };
    const bare = async () => {
      const id = randomUUID();
      const startedAt = performance.now();
      const claude = startBareClaude({
        workspace,
        home: join(workspace.root, id),
        api,
        conversation: ['--session-id', id],
        prompt: 'Do what the script says.',
      });
      const request = await claude.nextRequest();
      await claude.end();
      return request.arrivedAt - startedAt;
    };
    try {
      const label = 'start to first pending turn';
      const figures = await alternate({ pairs: runs, progress, label, ours, baseline: bare });
      return [ratioResult({ measurement: label, unit: 'ms', ...figures, limit: 1.25 })];
    } finally {
      api.close();
      await gateway.close();
    }
  });
}
