import type { JsonObject } from '../base/canonical-json.ts';
import { truncateText } from '../base/truncate-text.ts';
import { type ActionRecord, listActions } from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import type { SubsessionRecord } from '../ledger/subsessions.ts';

/** The latest ones; all of them are in the timeline. */
const MAX_ACTIONS = 40;
const MAX_ARGV_BYTES = 200;
const MAX_TEXT_BYTES = 8 * 1024;
/** Below the limit of a tool's answer, so that it arrives as whole JSON. */
const MAX_DESCRIPTION_BYTES = 40 * 1024;

/** What a state says of a subagent: how it stands, and nothing that it read or wrote. */
export interface SubagentSummary {
  readonly subsession_id: string;
  readonly model_class: string;
  readonly model: string;
  readonly state: string;
  readonly turns: number;
  readonly max_turns: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly started_at: string;
  readonly deadline: string;
  readonly ended_at: string | null;
  /** Why it ended, when it did not finish its task. */
  readonly outcome: { readonly code: string; readonly message: string } | null;
}

export function summarizeSubagent(subsession: SubsessionRecord): SubagentSummary {
  return {
    subsession_id: subsession.id,
    model_class: subsession.modelClass,
    model: subsession.model,
    state: subsession.state,
    turns: subsession.turns,
    max_turns: subsession.maxTurns,
    input_tokens: subsession.inputTokens,
    output_tokens: subsession.outputTokens,
    started_at: subsession.createdAt,
    deadline: subsession.deadline,
    ended_at: subsession.endedAt,
    outcome: subsession.outcome,
  };
}

/** All that its session's client gets to know of a subagent, within the limits above. */
export function describeSubagent(
  database: LedgerDatabase,
  subsession: SubsessionRecord,
): JsonObject {
  const actions = listActions(database, subsession.sessionId).filter(
    ({ subsessionId }) => subsessionId === subsession.id,
  );
  for (let share = 1; ; share /= 2) {
    const described = describeInPart(subsession, actions, share);
    const bytes = Buffer.byteLength(JSON.stringify(described, null, 1));
    if (bytes <= MAX_DESCRIPTION_BYTES) return described;
  }
}

/** `share` of what may be shown of actions and text: both can be longer in JSON than they are. */
function describeInPart(
  subsession: SubsessionRecord,
  actions: readonly ActionRecord[],
  share: number,
): JsonObject {
  const text = truncateText(subsession.lastText, Math.floor(MAX_TEXT_BYTES * share));
  const count = Math.floor(MAX_ACTIONS * share);
  return {
    ...summarizeSubagent(subsession),
    outcome: subsession.outcome === null ? null : { ...subsession.outcome },
    action_count: actions.length,
    actions: count === 0 ? [] : actions.slice(-count).map(describeAction),
    last_text: text,
    last_text_truncated: text.length < subsession.lastText.length,
  };
}

function describeAction(action: ActionRecord): JsonObject {
  const { argv } = action.input;
  return {
    action_id: action.id,
    tool: action.tool,
    state: action.state,
    ...(action.path === null ? {} : { path: action.path }),
    ...(Array.isArray(argv) ? { argv: truncateText(JSON.stringify(argv), MAX_ARGV_BYTES) } : {}),
    ...(action.receipt?.is_error === true ? { error: action.receipt.code } : {}),
  };
}
