import type { Clock } from '../../base/clock.ts';
import { mintActionId, mintToolUseId } from '../../base/ids.ts';
import { ReinsError } from '../../base/reins-error.ts';
import type { TurnRequest } from '../../bridge/bridge.ts';
import type { BridgeReply } from '../../bridge/held-response.ts';
import { fromClaudeToolName } from '../../claude/contract.ts';
import { askEndpoint } from '../../deepseek/ask-endpoint.ts';
import type { DeepseekSettings } from '../../deepseek/deepseek-settings.ts';
import type { EndpointMessage } from '../../deepseek/message-assembler.ts';
import { toEndpointRequest } from '../../deepseek/to-endpoint-request.ts';
import type { NewAction } from '../../ledger/actions.ts';
import type { LedgerDatabase } from '../../ledger/database.ts';
import {
  addSubsessionTokens,
  findSubsession,
  type SubsessionOutcome,
  type SubsessionRecord,
} from '../../ledger/subsessions.ts';
import { acceptSubagentAnswer } from '../../session/accept-subagent-answer.ts';
import { checkReply } from '../../session/check-reply.ts';
import type { Tool } from '../../tools/tool.ts';
import { subagentSystemPrompt } from './subagent-system-prompt.ts';

export interface ModelRelayOptions {
  readonly database: LedgerDatabase;
  readonly subsession: SubsessionRecord;
  readonly settings: DeepseekSettings;
  readonly tools: readonly Tool[];
  /** Where the subagent works. */
  readonly workingDirectory: string;
  readonly clock: Clock;
  /** Ends whatever is asked of the endpoint. */
  readonly signal: AbortSignal;
  onChange(): void;
  hidePlaces(text: string): string;
  /** The subagent cannot go on. */
  fail(code: SubsessionOutcome['code'], message: string): void;
}

/**
 * Takes each model request of a subagent's Claude Code to the endpoint, and the answer back once it is whole and its
 * calls are authorised and durable. The tool-use ids of the endpoint go no further than here. A request that comes again
 * gets the answer that it got.
 */
export function createModelRelay(options: ModelRelayOptions): (turn: TurnRequest) => void {
  const { fail } = options;
  let latest:
    | { readonly sha256: string; readonly reply: Promise<BridgeReply | undefined> }
    | undefined;
  return (turn) => {
    if (latest?.sha256 !== turn.sha256) latest = { sha256: turn.sha256, reply: ask(options, turn) };
    latest.reply
      .then((reply) => {
        if (reply !== undefined) turn.held.answer(reply);
      })
      .catch((error: unknown) => {
        if (options.signal.aborted) return;
        const reason = error instanceof ReinsError ? error.message : 'Reins failed in it.';
        fail('internal', `An answer of the model could not be taken: ${reason}`);
      });
  };
}

/** Undefined when there is no answer, and the subagent has been ended for it. */
async function ask(
  options: ModelRelayOptions,
  turn: TurnRequest,
): Promise<BridgeReply | undefined> {
  const { database, subsession, settings, fail } = options;
  const turns = findSubsession(database, subsession.sessionId, subsession.id)?.turns ?? 0;
  if (turns >= subsession.maxTurns) {
    fail(
      'turn_limit',
      `The subagent reached its max_turns of ${subsession.maxTurns}; give it more (at most 200) or less to do.`,
    );
    return undefined;
  }
  const body = toEndpointRequest(turn.body, {
    model: subsession.model,
    system: subagentSystemPrompt(options.workingDirectory),
  });
  if (body === undefined) {
    fail('internal', 'A request of Claude Code cannot be taken to DeepSeek.');
    return undefined;
  }
  const answer = await askEndpoint(settings, body, options.signal);
  if (answer.kind === 'failed') {
    addSubsessionTokens(database, subsession.id, answer.tokens);
    fail(answer.code, answer.message);
    return undefined;
  }
  return accept(options, turn, answer.message);
}

/** Durable before visible: the answer and its actions are on disk when this returns. */
function accept(
  options: ModelRelayOptions,
  turn: TurnRequest,
  message: EndpointMessage,
): BridgeReply | undefined {
  const { database, subsession, fail } = options;
  // A summary replaces the conversation; a call in it would belong to nothing.
  const asked = turn.purpose === 'compaction' ? [] : message.toolUses;
  const calls = asked.map(({ name, input }) => ({
    id: mintToolUseId(),
    name,
    input,
    tool: options.tools.find((tool) => tool.name === fromClaudeToolName(name)),
  }));
  const fault = findFault({ text: message.text, calls: asked });
  if (fault !== undefined) {
    fail('answer_malformed', fault);
    return undefined;
  }
  const isStored = acceptSubagentAnswer(
    database,
    subsession.sessionId,
    subsession.id,
    {
      text: options.hidePlaces(message.text),
      // A call of a tool that there is not gets its error from Claude Code, and nothing to carry out.
      actions: calls.flatMap(({ id, input, tool }): NewAction[] =>
        tool === undefined ? [] : [{ id: mintActionId(), toolUseId: id, tool: tool.name, input }],
      ),
      unknownTools: calls.flatMap(({ name, tool }) => (tool === undefined ? [name] : [])),
      inputTokens: message.inputTokens,
      outputTokens: message.outputTokens,
    },
    options.clock(),
  );
  if (!isStored) return undefined;
  options.onChange();
  return {
    thinking: message.thinking,
    text: message.text,
    toolUses: calls.map(({ id, name, input }) => ({ id, name, input })),
  };
}

/** The limits of any reply. */
function findFault(
  reply: Pick<EndpointMessage, 'text'> & { calls: EndpointMessage['toolUses'] },
): string | undefined {
  try {
    checkReply(
      { text: reply.text, calls: reply.calls.map(({ name, input }) => ({ tool: name, input })) },
      () => {},
    );
    return undefined;
  } catch (error) {
    if (error instanceof ReinsError) return `DeepSeek's answer is refused: ${error.message}`;
    throw error;
  }
}
