import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { alternate } from '../support/alternate.mjs';
import { startBareClaude } from '../support/bare-claude.mjs';
import { connectGateway } from '../support/gateway.mjs';
import { startMessagesApi } from '../support/messages-api.mjs';
import { ratioResult } from '../support/results.mjs';
import { startSession } from '../support/session.mjs';
import { withWorkspace } from '../support/workspace.mjs';

/** native_session_continue until the pending turn is here, against `claude --resume` from spawn to its first request. */
export function measureContinue({ runs, progress }) {
  return withWorkspace(async (workspace) => {
    const gateway = await connectGateway(workspace);
    const api = await startMessagesApi();
    const id = randomUUID();
    const bareRun = async (conversation) => {
      const startedAt = performance.now();
      const home = join(workspace.root, id);
      const claude = startBareClaude({ workspace, home, api, conversation, prompt: 'Go on.' });
      const request = await claude.nextRequest();
      request.answer({ text: 'Done.' });
      await claude.completed();
      return request.arrivedAt - startedAt;
    };
    try {
      progress.say('continue: making both conversations');
      const session = await startSession(gateway.client, workspace.project);
      await session.finish();
      await bareRun(['--session-id', id]);
      const ours = async () => {
        const startedAt = performance.now();
        await session.continue();
        const ms = performance.now() - startedAt;
        await session.finish();
        return ms;
      };
      const label = 'continue against claude --resume';
      const figures = await alternate({
        pairs: runs,
        progress,
        label,
        ours,
        baseline: () => bareRun(['--resume', id]),
      });
      return [ratioResult({ measurement: label, unit: 'ms', ...figures, limit: 0.15 })];
    } finally {
      api.close();
      await gateway.close();
    }
  });
}
