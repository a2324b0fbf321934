/** About four bytes make a token in English text and code. Good enough to show Claude Code how full its window is. */
const BYTES_PER_TOKEN = 4;

export function estimateTokens(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / BYTES_PER_TOKEN));
}
