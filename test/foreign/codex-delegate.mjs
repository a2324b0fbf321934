// The Codex CLI, with a scripted model on loopback, has the real Claude Code do tasks through `reins delegate`. Claude
// Code's own model is a script as well.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { startMessagesApi } from '../../bench/support/messages-api.mjs';
import { findPinnedClaude } from '../../bench/support/product-files.mjs';
import { runCodex } from './support/codex.mjs';
import { runPart } from './support/part.mjs';
import { DELEGATE_TOOL_NAMES } from './support/reins.mjs';
import { processesOf } from './support/test-home.mjs';

/** Begins like an option and has what a shell would not leave alone. */
const PROMPT = '--version of "$HOME/größe" isn\'t\n  `known`: say so.';
const ANSWER = 'Die Größe ist "unbekannt".\nMehr weiß ich nicht.';
const HELD_PROMPT = '-p';

await runPart('codex-delegate', async ({ home, say }) => {
  const api = await startMessagesApi();
  /** The requests of Claude Code's agent loop, in order. */
  const asked = [];
  void answerFirst(api, asked);
  try {
    const exchanges = await runCodex({
      ...{ home, say },
      command: 'delegate',
      // Codex lets no proxy variable through by itself, and what Claude Code asks for elsewhere has to be seen.
      env: {
        ...home.env,
        CLAUDE_BIN: findPinnedClaude(),
        ANTHROPIC_BASE_URL: api.baseUrl,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
      toolNames: DELEGATE_TOOL_NAMES,
      isFailure: ({ result }) => result.is_error === true,
      task: 'Have the size told.',
      playModel: (callTool) => playModel(callTool, home, asked),
    });
    say(`the model called ${exchanges.map(({ tool }) => tool.replace('claude.', '')).join(', ')}`);
  } finally {
    api.close();
  }
  assert.deepEqual(asked.map(promptsOf), [[PROMPT], [HELD_PROMPT]]);
  say('Claude Code was given both prompts exactly as Codex wrote them');
  assert.deepEqual(readdirSync(home.project), []);
});

/** Nobody answers the second request, nor any after it. */
async function answerFirst(api, asked) {
  const first = await api.next();
  asked.push(first);
  first.answer({ text: ANSWER });
  asked.push(await api.next());
}

/** What is said to Claude Code's model by the user, without what Claude Code adds. */
function promptsOf({ messages }) {
  return messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => content)
    .map(({ text }) => text)
    .filter((text) => !text.startsWith('<system-reminder>'));
}

function* playModel(callTool, home, asked) {
  function* call(tool, args) {
    const { result } = yield* callTool(tool, args);
    return result;
  }

  const others = processesOf(home.root);
  const processesOfRuns = () => processesOf(home.root).filter((pid) => !others.includes(pid));

  const run = yield* call('claude.run', { prompt: PROMPT, working_directory: home.project });
  assert.deepEqual([run.state, run.error], ['completed', null]);
  assert.deepEqual([run.completed, run.is_error, run.exit_code], [true, false, 0]);
  assert.equal(run.final_event.result, ANSWER);
  assert.equal(run.cleanup_confirmed, true);
  assert.deepEqual(processesOfRuns(), []);

  const started = yield* call('claude.run.start', {
    prompt: HELD_PROMPT,
    working_directory: home.project,
  });
  const held = { run_id: started.run_id };
  let current;
  // It is to be cancelled in the middle of a request.
  do {
    current = yield* call('claude.run.result', { ...held, wait_seconds: 1 });
    assert.equal(current.completed, false, JSON.stringify(current));
  } while (asked.length < 2);
  assert.equal(current.state, 'running');
  assert.notDeepEqual(processesOfRuns(), []);

  yield* call('claude.run.cancel', held);
  do {
    current = yield* call('claude.run.result', { ...held, wait_seconds: 40 });
  } while (!current.completed);
  assert.deepEqual([current.state, current.error?.code], ['cancelled', 'cancelled']);
  assert.equal(current.cleanup_confirmed, true);
  assert.deepEqual(processesOfRuns(), []);

  const events = [];
  let page = { next_cursor: 0 };
  do {
    const rest = { cursor: page.next_cursor, limit: 5 };
    page = yield* call('claude.run.events', { run_id: run.run_id, ...rest });
    assert.deepEqual([page.missed_events, page.omitted_events], [0, 0]);
    events.push(...page.events);
  } while (page.has_more);
  assert.deepEqual([events[0].subtype, events[0].cwd], ['init', home.project]);
  assert.deepEqual(events.at(-1), run.final_event);

  for (const id of [run.run_id, held.run_id]) {
    assert.equal((yield* call('claude.run.release', { run_id: id })).released, true);
  }
  assert.deepEqual((yield* call('claude.run.list', {})).runs, []);
  return 'Both tasks are over.';
}
