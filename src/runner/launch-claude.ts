import { join } from 'node:path';
import type { ClaudeSessionId } from '../base/ids.ts';
import type { SubagentPaths } from '../base/state-directory.ts';
import {
  type ClaudeHandlers,
  type ClaudeProcess,
  startClaude,
  writeMcpConfig,
} from '../claude/claude-process.ts';
import { type ClaudeLaunch, claudeArguments, claudeEnvironment } from '../claude/contract.ts';
import { claimConversation } from '../claude/saved-conversation.ts';
import type { ClaudePlaces } from '../confine/claude-places.ts';
import type { Confinement } from '../confine/confinement.ts';
import type { Tool } from '../tools/tool.ts';
import type { RunnerConfig } from './runner-config.ts';

const MCP_CONFIG = 'mcp.json';

/** The places of a session's, or a subagent's, Claude Code on this computer. */
export function toClaudePlaces(
  paths: SubagentPaths,
  modelSocket: string,
): Omit<ClaudePlaces, 'executable'> {
  return {
    home: paths.home,
    configDirectory: paths.claudeConfig,
    runtimeDirectory: paths.runtime,
    modelSocket,
    executorRequests: join(paths.runtime, 'executor-requests'),
    executorAnswers: join(paths.runtime, 'executor-answers'),
  };
}

/** Starts an executable that has just been asserted, confined: on its saved conversation when there is one, else on a new one of the same id. */
export function launchClaude(
  confinement: Confinement,
  outside: ClaudePlaces,
  sessionId: ClaudeSessionId,
  config: RunnerConfig,
  modelKey: string,
  tools: readonly Tool[],
  handlers: ClaudeHandlers,
): ClaudeProcess {
  const inside = confinement.claudePlaces(outside);
  writeMcpConfig(
    join(outside.runtimeDirectory, MCP_CONFIG),
    inside.executorRequests,
    inside.executorAnswers,
  );
  const launch: ClaudeLaunch = {
    home: inside.home,
    configDirectory: inside.configDirectory,
    runtimeDirectory: inside.runtimeDirectory,
    modelSocket: inside.modelSocket,
    bridgeKey: modelKey,
    mcpConfigFile: join(inside.runtimeDirectory, MCP_CONFIG),
    tools: tools.map((tool) => tool.name),
    sessionId,
    resume: claimConversation(outside.configDirectory, sessionId),
    compactWindowTokens: config.compact_window_tokens,
  };
  const confined = confinement.confineClaude(outside, {
    args: claudeArguments(launch),
    env: claudeEnvironment(launch),
  });
  return startClaude(confined, launch, handlers);
}
