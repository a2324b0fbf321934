import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { mintRunId } from '../../src/base/ids.ts';
import { assertClaude } from '../../src/claude/assert-version.ts';
import { writeMcpConfig } from '../../src/claude/claude-process.ts';
import { claudeArguments, claudeEnvironment } from '../../src/claude/contract.ts';
import { wrapPrompt } from '../../src/claude/request-markers.ts';
import { parseClaudeEvent } from '../../src/claude/stream-events.ts';
import { endGroup } from '../../src/process/end-group.ts';
import { spawnOwned } from '../../src/process/spawn-owned.ts';
import { toolsFor } from '../../src/tools/tool-set.ts';
import { startBareExecutor } from '../support/bare-executor.ts';
import { BRIDGE_KEY, startBridge } from '../support/bridge-server.ts';
import { createTestHome } from '../support/test-home.ts';

/**
 * Claude Code's time limits, shortened as far as its documented variables allow (10 s) and with the watchdogs
 * switched on. A wait of 25 s then stands for one of many times their usual length.
 */
const IMPATIENT = {
  CLAUDE_ENABLE_STREAM_WATCHDOG: '1',
  CLAUDE_ENABLE_BYTE_WATCHDOG: '1',
  CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS: '10000',
  CLAUDE_STREAM_FIRST_BYTE_TIMEOUT_MS: '10000',
  API_TIMEOUT_MS: '12000',
};
const WAIT_MS = 25_000;

interface Outcome {
  /** Whether the first request was still open when the answer came. */
  readonly held: boolean;
  readonly results: readonly string[];
  readonly requests: number;
}

/** Lets a real Claude Code wait for its answer with a heartbeat and variables of one's choice. */
async function waitForAnswer(heartbeatMs: number, over: Record<string, string>): Promise<Outcome> {
  const home = createTestHome();
  const modelSocket = join(home.root, 'model.sock');
  const bridge = await startBridge(heartbeatMs, modelSocket);
  const executor = await startBareExecutor(home.root);
  const [homeDirectory, configDirectory, runtimeDirectory] = ['home', 'config', 'runtime'].map(
    (name) => {
      const path = join(home.root, name);
      mkdirSync(path);
      return path;
    },
  );
  const launch = {
    home: homeDirectory ?? '',
    configDirectory: configDirectory ?? '',
    runtimeDirectory: runtimeDirectory ?? '',
    modelSocket,
    bridgeKey: BRIDGE_KEY,
    mcpConfigFile: join(home.root, 'mcp.json'),
    tools: toolsFor('read_only').map(({ name }) => name),
    sessionId: randomUUID(),
    resume: false,
    compactWindowTokens: null,
  };
  writeMcpConfig(launch.mcpConfigFile, executor.requests, executor.answers);
  const child = spawnOwned({
    file: await assertClaude({ explicit: null, path: '', home: home.root }),
    args: claudeArguments(launch),
    cwd: launch.runtimeDirectory,
    env: { ...claudeEnvironment(launch), ...over },
  });
  const results: string[] = [];
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    for (let end = output.indexOf('\n'); end >= 0; end = output.indexOf('\n')) {
      const event = parseClaudeEvent(output.slice(0, end));
      output = output.slice(end + 1);
      if (event.kind === 'result') results.push(`${event.isError ? 'error' : 'ok'}: ${event.text}`);
    }
  });
  try {
    const prompt = {
      role: 'user',
      content: [{ type: 'text', text: wrapPrompt(mintRunId(), 'Wait.') }],
    };
    child.stdin.write(
      `${JSON.stringify({ type: 'user', message: prompt, parent_tool_use_id: null })}\n`,
    );
    await vi.waitUntil(() => bridge.turns.length > 0, { timeout: 60_000 });
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    const held = bridge.turns[0]?.held.open ?? false;
    for (const turn of bridge.turns) turn.held.answer({ text: 'Worth the wait.', toolUses: [] });
    if (held) await vi.waitUntil(() => results.length > 0, { timeout: 30_000 });
    const requests = bridge.requests.filter((request) => request === 'POST /v1/messages').length;
    return { held, results, requests };
  } finally {
    await endGroup(child);
    await bridge.close();
    executor.close();
    await home.dispose();
  }
}

describe.concurrent('F21 F22 a turn is held beyond every limit of Claude Code', () => {
  test('by the heartbeat alone', async () => {
    const { API_TIMEOUT_MS: _whole, ...watchdogs } = IMPATIENT;
    expect(await waitForAnswer(2_000, watchdogs)).toEqual({
      held: true,
      results: ['ok: Worth the wait.'],
      requests: 1,
    });
  });

  test('by the variables alone, in silence', async () => {
    expect(await waitForAnswer(3_600_000, {})).toEqual({
      held: true,
      results: ['ok: Worth the wait.'],
      requests: 1,
    });
  });

  test('and with neither, the limits bite: the control that shows the two above prove something', async () => {
    expect((await waitForAnswer(3_600_000, IMPATIENT)).held).toBe(false);
  });
});
