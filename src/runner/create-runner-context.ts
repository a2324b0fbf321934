import type { StateDirectory } from '../base/state-directory.ts';
import type { Confinement } from '../confine/confinement.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import type { SessionRecord } from '../ledger/sessions.ts';
import { createCommandRuntime } from '../tools/command/command-runtime.ts';
import type { ToolContext } from '../tools/tool.ts';
import { createToolContext } from '../tools/tool-context.ts';
import type { RunnerConfig } from './runner-config.ts';

/** What the tools of a running session may know, commands included. */
export function createRunnerContext(
  database: LedgerDatabase,
  session: SessionRecord,
  config: RunnerConfig,
  state: StateDirectory,
  confinement: Promise<Confinement>,
): ToolContext {
  const context = createToolContext(
    database,
    session,
    config.user_home,
    state.root,
    config.protection,
  );
  const settings = {
    home: config.user_home,
    searchPath: config.search_path,
    toolLocations: config.tool_locations,
    stageRoot: state.sessionPaths(session.id).commands,
    furtherDirectories: session.worktree === null ? [] : [session.worktree.common_directory],
    confinement,
  };
  return { ...context, commands: createCommandRuntime(settings, context.protection) };
}
