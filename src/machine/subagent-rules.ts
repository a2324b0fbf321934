export const SUBAGENT_START = 'deepseek_subagent_start';
export const SUBAGENT_GET = 'deepseek_subagent_get';
export const SUBAGENT_STOP = 'deepseek_subagent_stop';

/** What the main loop may do while a subagent has the files: look, and see to the subagent. */
const BESIDE_A_SUBAGENT: ReadonlySet<string> = new Set([
  'Read',
  'FindFiles',
  'SearchText',
  SUBAGENT_GET,
  SUBAGENT_STOP,
]);

/** Why a reply may not be given as it is. */
export type SubagentObjection =
  /** A start shares its reply with other calls. */
  | { readonly kind: 'not_alone' }
  /** A call that has to wait until the subagent has ended. */
  | { readonly kind: 'locked'; readonly position: number; readonly tool: string }
  /** The reply would end the run while its subagent works. */
  | { readonly kind: 'would_end' };

export interface AskedReply {
  /** Whether a subagent of the session has not ended. */
  readonly isSubagentActive: boolean;
  /** Whether the turn asks for a summary of the conversation, which is text by nature and ends nothing. */
  readonly isSummary: boolean;
  /** The tools that the reply calls, in order. */
  readonly tools: readonly string[];
}

/** The start-alone rule and the write lock. Pure; undefined when nothing speaks against the reply. */
export function objectToReply(reply: AskedReply): SubagentObjection | undefined {
  if (reply.tools.includes(SUBAGENT_START) && reply.tools.length > 1) return { kind: 'not_alone' };
  if (!reply.isSubagentActive) return undefined;
  const position = reply.tools.findIndex((tool) => !BESIDE_A_SUBAGENT.has(tool));
  const tool = reply.tools[position];
  if (tool !== undefined) return { kind: 'locked', position, tool };
  return reply.tools.length === 0 && !reply.isSummary ? { kind: 'would_end' } : undefined;
}
