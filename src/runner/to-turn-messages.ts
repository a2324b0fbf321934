import { isToolUseId, type SessionId } from '../base/ids.ts';
import { unreachable } from '../base/unreachable.ts';
import type { NewMessage } from '../bridge/new-messages.ts';
import { type ActionRecord, findActionByToolUse } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import type { TurnMessage, TurnPurpose } from '../ledger/turns.ts';

const COMPACTION_NOTICE =
  'Claude Code asks for a summary of the conversation, which will replace it. Answer with text alone; tool_calls are refused for this turn.';

interface Shown {
  readonly message: TurnMessage;
  readonly action?: ActionRecord;
}

/**
 * What the client gets to see of a request. A tool result is shown as the ledger has it: when a call was cut off by a
 * crash, Claude Code remembers an error of its own, and only the ledger knows what became of the file. Results stand in
 * the order of the calls; Claude Code sends those that ran side by side as they finished. Places inside Reins' own
 * state are not named.
 */
export function toTurnMessages(
  database: LedgerDatabase,
  session: SessionId,
  purpose: TurnPurpose,
  messages: readonly NewMessage[],
  sessionRoot: string,
): TurnMessage[] {
  const shown = messages.map((message): Shown => {
    switch (message.kind) {
      case 'task':
        return { message: { kind: 'task', text: message.text } };
      case 'notice':
        return {
          message: { kind: 'notice', text: message.text.replaceAll(sessionRoot, '[session]') },
        };
      case 'tool_result': {
        const action = isToolUseId(message.toolUseId)
          ? findActionByToolUse(database, session, message.toolUseId)
          : undefined;
        return { message: toToolResult(message, action), ...(action ? { action } : {}) };
      }
      default:
        return unreachable(message);
    }
  });
  const ordered = inCallOrder(shown).map(({ message }) => message);
  return purpose === 'compaction'
    ? [...ordered, { kind: 'notice', text: COMPACTION_NOTICE }]
    : ordered;
}

function toToolResult(
  message: Extract<NewMessage, { kind: 'tool_result' }>,
  action: ActionRecord | undefined,
): TurnMessage {
  return {
    kind: 'tool_result',
    tool: action?.tool ?? 'unknown',
    call_id: message.toolUseId,
    is_error: action?.receipt?.is_error ?? message.isError,
    text: action?.receipt?.text ?? message.text,
    truncated: action?.receipt?.truncated ?? false,
  };
}

/** Sorts the results of one reply among the places that they take up; everything else stays where it is. */
function inCallOrder(shown: readonly Shown[]): Shown[] {
  const sorted = [...shown];
  for (const turn of new Set(shown.flatMap(({ action }) => action?.turnId ?? []))) {
    const places = shown.flatMap(({ action }, place) => (action?.turnId === turn ? [place] : []));
    const results = places
      .map((place) => shown[place])
      .filter((each) => each !== undefined)
      .sort((a, b) => (a.action?.ordinal ?? 0) - (b.action?.ordinal ?? 0));
    places.forEach((place, position) => {
      const result = results[position];
      if (result !== undefined) sorted[place] = result;
    });
  }
  return sorted;
}
