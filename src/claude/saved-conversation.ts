import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Whether Claude Code has written a conversation with this id under its config directory. */
export function hasSavedConversation(configDirectory: string, sessionId: string): boolean {
  const projects = join(configDirectory, 'projects');
  return listDirectory(projects).some((project) =>
    listDirectory(join(projects, project)).includes(`${sessionId}.jsonl`),
  );
}

function listDirectory(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
