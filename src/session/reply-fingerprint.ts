import { sha256 } from '../base/sha256.ts';

/**
 * Recognises a reply when Claude Code sends it back as an assistant message. Tool-use ids are ours and unique, so
 * the first one is enough; a reply of text alone is known by its text without the white space around it, which
 * Claude Code may trim.
 */
export function replyFingerprint(text: string, toolUseIds: readonly string[]): string {
  return toolUseIds[0] ?? `text:${sha256(text.trim())}`;
}
