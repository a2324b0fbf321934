import { fromClaudeToolName } from '../claude/contract.ts';
import { isCompactionRequest } from '../claude/request-markers.ts';
import type { MessagesRequest } from './parse-messages-request.ts';

/**
 * What a model request of Claude Code is for. `step` and `compaction` become turns; `side` (titles, suggestions,
 * probes of a model) is answered here and never does.
 */
export type RequestPurpose = 'step' | 'compaction' | 'side';

/** The agent loop is the only asker that offers the executor's tools. */
export function classifyRequest(request: MessagesRequest): RequestPurpose {
  if (!request.toolNames.some((name) => fromClaudeToolName(name) !== undefined)) return 'side';
  const last = request.message(request.messageCount - 1).content.at(-1);
  return last?.type === 'text' && isCompactionRequest(last.text) ? 'compaction' : 'step';
}
