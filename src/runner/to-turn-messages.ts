import { isToolUseId, type SessionId } from '../base/ids.ts';
import { unreachable } from '../base/unreachable.ts';
import type { NewMessage } from '../bridge/new-messages.ts';
import { findActionByToolUse } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import type { TurnMessage, TurnPurpose } from '../ledger/turns.ts';

const COMPACTION_NOTICE =
  'Claude Code asks for a summary of the conversation, which will replace it. Answer with text alone; tool_calls are refused for this turn.';

/**
 * What the client gets to see of a request. Tool results get the name and the truncation mark that the ledger has of
 * their action; places inside Reins' own state are not named.
 */
export function toTurnMessages(
  database: LedgerDatabase,
  session: SessionId,
  purpose: TurnPurpose,
  messages: readonly NewMessage[],
  sessionRoot: string,
): TurnMessage[] {
  const shown = messages.map((message): TurnMessage => {
    switch (message.kind) {
      case 'task':
        return { kind: 'task', text: message.text };
      case 'notice':
        return { kind: 'notice', text: message.text.replaceAll(sessionRoot, '[session]') };
      case 'tool_result': {
        const action = isToolUseId(message.toolUseId)
          ? findActionByToolUse(database, session, message.toolUseId)
          : undefined;
        return {
          kind: 'tool_result',
          tool: action?.tool ?? 'unknown',
          call_id: message.toolUseId,
          is_error: message.isError,
          text: message.text,
          truncated: action?.receipt?.truncated ?? false,
        };
      }
      default:
        return unreachable(message);
    }
  });
  return purpose === 'compaction' ? [...shown, { kind: 'notice', text: COMPACTION_NOTICE }] : shown;
}
