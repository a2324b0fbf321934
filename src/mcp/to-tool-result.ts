import type { CallToolResult } from '@modelcontextprotocol/server';

/** `short`: one line beside the structured result. `full`: the whole result as JSON text as well. */
export type ContentMode = 'short' | 'full';

/** The first protocol date that knows structured results; an older client sees the text alone. */
const STRUCTURED_SINCE = '2025-06-18';

/** A structured result, with the text beside it that this client needs. */
export function toToolResult(
  structured: { [key: string]: unknown },
  line: string,
  mode: ContentMode,
  protocol: string | undefined,
): CallToolResult {
  const full = mode === 'full' || (protocol !== undefined && protocol < STRUCTURED_SINCE);
  return {
    content: [{ type: 'text', text: full ? JSON.stringify(structured) : line }],
    structuredContent: structured,
  };
}
