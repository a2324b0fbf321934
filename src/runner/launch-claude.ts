import { join } from 'node:path';
import type { SessionPaths } from '../base/state-directory.ts';
import {
  type ClaudeHandlers,
  type ClaudeProcess,
  startClaude,
  writeMcpConfig,
} from '../claude/claude-process.ts';
import { claimConversation } from '../claude/saved-conversation.ts';
import type { SessionRecord } from '../ledger/sessions.ts';
import type { Tool } from '../tools/tool.ts';
import type { LoopbackServer } from './loopback-server.ts';
import type { RunnerConfig } from './runner-config.ts';

export interface ClaudeKeys {
  readonly bridge: string;
  readonly executor: string;
}

/**
 * Starts Claude Code for a session: on its saved conversation when there is one, else on a new one of the same id.
 * `file` is a binary whose version has just been asserted.
 */
export function launchClaude(
  file: string,
  session: SessionRecord,
  paths: SessionPaths,
  config: RunnerConfig,
  loopback: LoopbackServer,
  keys: ClaudeKeys,
  tools: readonly Tool[],
  handlers: ClaudeHandlers,
): ClaudeProcess {
  const mcpConfigFile = join(paths.runtime, 'mcp.json');
  writeMcpConfig(mcpConfigFile, loopback.executorUrl, keys.executor);
  return startClaude(
    file,
    {
      home: paths.home,
      configDirectory: paths.claudeConfig,
      runtimeDirectory: paths.runtime,
      baseUrl: loopback.baseUrl,
      bridgeKey: keys.bridge,
      mcpConfigFile,
      tools: tools.map((tool) => tool.name),
      sessionId: session.claudeSessionId,
      resume: claimConversation(paths.claudeConfig, session.claudeSessionId),
      compactWindowTokens: config.compact_window_tokens,
    },
    handlers,
  );
}
