import { createPathProtection, type ProtectionSettings } from '../confine/path-protection.ts';
import { findLastSeenContent } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import type { SessionRecord } from '../ledger/sessions.ts';
import type { ToolContext } from './tool.ts';

/** What the tools may know of a session: its profile decides whether there is a place that can be changed. */
export function createToolContext(
  database: LedgerDatabase,
  session: SessionRecord,
  userHome: string,
  stateDirectory: string,
  protection: ProtectionSettings,
): ToolContext {
  return {
    workingDirectory: session.workingDirectory,
    writeRoot: session.profile === 'read_only' ? null : session.workingDirectory,
    protection: createPathProtection(userHome, stateDirectory, process.platform, protection),
    commands: null,
    subagents: null,
    lastSeen: (path) => findLastSeenContent(database, session.id, null, path),
  };
}
