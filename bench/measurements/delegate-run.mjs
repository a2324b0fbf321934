import { alternate } from '../support/alternate.mjs';
import { runBareClaude, toClaudeEnv } from '../support/bare-claude.mjs';
import { callTool, connectDelegate } from '../support/gateway.mjs';
import { startMessagesApi } from '../support/messages-api.mjs';
import { ratioResult } from '../support/results.mjs';
import { withWorkspace } from '../support/workspace.mjs';

/** A goal of a few percent is less than what single runs differ by, so that a median takes more of them. */
const PAIRS_PER_RUN = 3;
const PROMPT = 'Say that it is done.';
const ANSWER = 'Done.';
/** Spelled out, so that a flag which the product adds to its runs shows in what they cost. */
const ARGS_OF_A_RUN = [
  ...['-p', '--output-format=stream-json', '--verbose', '--include-partial-messages'],
  ...['--permission-mode=dontAsk', '--', PROMPT],
];

/** claude.run of a prompt that is answered at once, against `claude -p` with the same arguments from spawn to its end. */
export function measureDelegateRun({ runs, progress }) {
  return withWorkspace(async (workspace) => {
    const api = await startMessagesApi();
    try {
      const label = 'delegate: run against claude -p';
      const pairs = runs * PAIRS_PER_RUN;
      const figures = await compare(workspace, api, { pairs, progress, label });
      return [ratioResult({ measurement: label, unit: 'ms', ...figures, limit: 1.05 })];
    } finally {
      api.close();
    }
  });
}

async function compare(workspace, api, options) {
  // CLAUDE_BIN is for the adapter; the bare one has it as well, so that their environments are the same.
  const env = { ...toClaudeEnv(workspace, api), CLAUDE_BIN: workspace.env.CLAUDE_BIN };
  const delegate = await connectDelegate(workspace, env);
  const answerNext = async () => (await api.next()).answer({ text: ANSWER });
  const ours = async () => {
    void answerNext();
    const startedAt = performance.now();
    const { result } = await callTool(delegate.client, 'claude.run', { prompt: PROMPT });
    const ms = performance.now() - startedAt;
    if (result.final_event?.result !== ANSWER) throw new Error('claude.run brought another answer');
    return ms;
  };
  const bare = async () => {
    void answerNext();
    const startedAt = performance.now();
    await runBareClaude(workspace, ARGS_OF_A_RUN, env);
    return performance.now() - startedAt;
  };
  try {
    return await alternate({ ...options, ours, baseline: bare });
  } finally {
    await delegate.close();
  }
}
