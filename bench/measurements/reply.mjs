import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alternate } from '../support/alternate.mjs';
import { startBareClaude } from '../support/bare-claude.mjs';
import { connectGateway } from '../support/gateway.mjs';
import { startMessagesApi } from '../support/messages-api.mjs';
import { differenceResult } from '../support/results.mjs';
import { startSession } from '../support/session.mjs';
import { textOf } from '../support/text.mjs';
import { withWorkspace } from '../support/workspace.mjs';

/** A turn costs tens of milliseconds, so more of them are affordable than of the slower things. */
const PAIRS_PER_RUN = 5;
const FILE_BYTES = 10 * 1024;

/** A reply with one Read until the next turn is here, against bare Claude with its own Read between two requests. */
export function measureReply({ runs, progress }) {
  return withWorkspace(async (workspace) => {
    const gateway = await connectGateway(workspace);
    const api = await startMessagesApi();
    progress.say('reply to next pending turn: starting both');
    const session = await startSession(gateway.client, workspace.project);
    const id = randomUUID();
    const claude = startBareClaude({
      workspace,
      home: join(workspace.root, id),
      api,
      conversation: ['--session-id', id],
      prompt: 'Do what the script says.',
    });
    let request = await claude.nextRequest();
    const ours = async () => {
      const file = makeFile(workspace.project);
      const startedAt = performance.now();
      await session.read(file);
      return performance.now() - startedAt;
    };
    const bare = async () => {
      const file = makeFile(workspace.project);
      const answeredAt = request.answer({ toolUse: { name: 'Read', input: { file_path: file } } });
      request = await claude.nextRequest();
      requireFileContent(request, file);
      return request.arrivedAt - answeredAt;
    };
    try {
      const label = 'reply with a Read to next turn';
      const pairs = runs * PAIRS_PER_RUN;
      const figures = await alternate({ pairs, progress, label, ours, baseline: bare });
      return [differenceResult({ measurement: label, unit: 'ms', ...figures, limit: 10 })];
    } finally {
      await claude.end();
      api.close();
      await gateway.close();
    }
  });
}

/** A new file each time: Claude Code answers a second Read of an unchanged file with a reminder only. */
function makeFile(directory) {
  const name = `file-${randomBytes(6).toString('hex')}.txt`;
  const path = join(directory, name);
  writeFileSync(path, `${name}\n${textOf(FILE_BYTES - name.length - 1)}`);
  return path;
}

function requireFileContent(request, path) {
  const last = request.messages.findLast(({ role }) => role === 'user');
  const result = [last?.content].flat().find((block) => block.type === 'tool_result');
  const text = JSON.stringify(result?.content ?? '');
  if (result?.is_error || !text.includes(path.slice(path.lastIndexOf('/') + 1))) {
    throw new Error(`bare Claude's Read did not bring ${path}: ${text.slice(0, 300)}`);
  }
}
