import { canonicalJson, type JsonObject } from '../base/canonical-json.ts';
import type { Clock } from '../base/clock.ts';
import { isToolUseId, type SessionId, type SubsessionId } from '../base/ids.ts';
import { ReinsError, type ToolErrorCode } from '../base/reins-error.ts';
import { sha256 } from '../base/sha256.ts';
import { truncateText } from '../base/truncate-text.ts';
import { withinTime } from '../base/within-time.ts';
import {
  type ActionRecord,
  findActionByToolUse,
  type Receipt,
  type SeenContent,
} from '../ledger/actions.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { appendEvent } from '../ledger/events.ts';
import { beginCommand } from './begin-command.ts';
import { changeFile } from './change-file.ts';
import { MAX_RECEIPT_TEXT_BYTES } from './receipt-limit.ts';
import { requireInput } from './require-input.ts';
import { settleAction } from './settle-action.ts';
import type { Tool, ToolContext } from './tool.ts';

export interface ExecutorOptions {
  readonly database: LedgerDatabase;
  readonly session: SessionId;
  /** The subagent whose calls are carried out; null for the calls of the session's client. */
  readonly subsession: SubsessionId | null;
  readonly tools: readonly Tool[];
  readonly context: ToolContext;
  readonly clock: Clock;
  /** Told after each change to the ledger. */
  onChange(): void;
  /** Told of an error that no tool expects; the model learns nothing of it. */
  onFault?(error: unknown): void;
}

/** A call as it arrives from Claude Code. Nothing in it is trusted. */
export interface ExecutorCall {
  readonly tool: string;
  readonly input: JsonObject;
  readonly toolUseId: string | undefined;
}

/** Carries out authorised actions, each at most once. */
export interface Executor {
  execute(call: ExecutorCall): Promise<Receipt>;
  /** Ends the commands that are running, and lets none start any more. */
  stop(): void;
  /** Resolves when nothing is under way any more, after `timeoutMs` in any case. */
  drain(timeoutMs: number): Promise<void>;
}

/**
 * Only a call that matches an authorised action in tool-use id, tool and arguments runs. A call that was carried out
 * before gets the stored receipt; one that is under way is waited for; anything else is refused and recorded.
 */
export function createExecutor(options: ExecutorOptions): Executor {
  const underWay = new Map<string, Promise<Receipt>>();
  const stopping = new AbortController();
  const context: ToolContext = { ...options.context, stopping: stopping.signal };
  let lastChange: Promise<unknown> = Promise.resolve();

  /** Changes happen one after another, in the order of their calls: each has to see what the one before has made. */
  function inTurn(work: () => Promise<Receipt>): Promise<Receipt> {
    const mine = lastChange.then(work);
    lastChange = mine.catch(() => {});
    return mine;
  }

  return {
    async execute(call) {
      const action = findAuthorized(options, call);
      if (action === undefined) return refuseStray(options, call);
      if (action.receipt !== null) return action.receipt;
      const running = underWay.get(action.id);
      if (running !== undefined) return running;
      const tool = options.tools.find(({ name }) => name === action.tool);
      const start = (): Promise<Receipt> =>
        run({ ...options, context }, tool, action, stopping.signal);
      const work = (
        tool !== undefined && tool.kind !== 'observe'
          ? inTurn(() => startLate(options, action, start))
          : start()
      ).finally(() => underWay.delete(action.id));
      underWay.set(action.id, work);
      return work;
    },

    stop: () => stopping.abort(),

    drain: (timeoutMs) => withinTime(Promise.allSettled([...underWay.values()]), timeoutMs),
  };
}

function findAuthorized(options: ExecutorOptions, call: ExecutorCall): ActionRecord | undefined {
  if (!isToolUseId(call.toolUseId)) return undefined;
  const action = findActionByToolUse(options.database, options.session, call.toolUseId);
  const matches =
    action !== undefined &&
    action.subsessionId === options.subsession &&
    action.tool === call.tool &&
    action.inputSha256 === sha256(canonicalJson(call.input));
  return matches ? action : undefined;
}

/** A call that has waited for its turn can have been settled meanwhile, by the end of its run. */
function startLate(
  options: ExecutorOptions,
  action: ActionRecord,
  start: () => Promise<Receipt>,
): Promise<Receipt> {
  const now = findActionByToolUse(options.database, options.session, action.toolUseId);
  return now?.receipt ? Promise.resolve(now.receipt) : start();
}

async function run(
  options: ExecutorOptions,
  tool: Tool | undefined,
  action: ActionRecord,
  signal: AbortSignal,
): Promise<Receipt> {
  if (action.state !== 'authorized') {
    // Begun and not ended: whether it happened is for the reconciliation to find out, and no repeated call ends it.
    return errorReceipt(
      'not_authorized',
      `The call is ${action.state} and cannot be carried out now; look at the session's timeline.`,
    );
  }
  let current = action;
  try {
    const { context } = options;
    if (tool === undefined) {
      throw new ReinsError(
        'not_authorized',
        `This session has no tool ${action.tool}; use one of those that it has.`,
      );
    }
    requireInput(tool, action.input);
    if (tool.kind === 'change') {
      return await changeFile(options, action, await tool.prepare(action.input, context));
    }
    if (tool.kind === 'command') {
      // Not begun and not to be begun: the end of the run says so in the ledger.
      if (signal.aborted) return errorReceipt('not_authorized', 'The session is stopping.');
      current = beginCommand(options, action);
      const result = await tool.execute(action.input, context, signal);
      const receipt = limitReceipt({
        text: result.text,
        is_error: result.failure !== undefined,
        truncated: result.truncated,
        code: result.failure ?? null,
      });
      return settle(options, current, result.failure === undefined ? 'applied' : 'failed', receipt);
    }
    if (tool.kind === 'control') {
      const result = await tool.perform(action.input, context, action);
      const receipt = limitReceipt({
        text: result.text,
        is_error: false,
        truncated: result.truncated,
        code: null,
      });
      settleAction(options, action, 'applied', receipt, undefined, result.record);
      result.begin?.();
      return receipt;
    }
    const observation = await tool.execute(action.input, context);
    const receipt = limitReceipt({
      text: observation.text,
      is_error: false,
      truncated: observation.truncated,
      code: null,
    });
    return settle(options, action, 'applied', receipt, observation.seen);
  } catch (error) {
    if (!(error instanceof ReinsError)) options.onFault?.(error);
    const receipt = toErrorReceipt(error);
    return settle(options, current, 'failed', receipt);
  }
}

/** What was settled while it was under way, by the end of its run, is what that says and nothing else. */
function settle(
  options: ExecutorOptions,
  action: ActionRecord,
  event: 'applied' | 'failed',
  receipt: Receipt,
  seen?: SeenContent,
): Receipt {
  const now = findActionByToolUse(options.database, options.session, action.toolUseId);
  if (now?.receipt) return now.receipt;
  settleAction(options, action, event, receipt, seen);
  return receipt;
}

/** A stray call is an error result for the model, and an event for whoever reads the timeline. */
function refuseStray(options: ExecutorOptions, call: ExecutorCall): Receipt {
  const { database, session, clock } = options;
  database.transaction(() => {
    appendEvent(
      database,
      session,
      'stray_call_refused',
      {
        tool: call.tool.slice(0, 100),
        tool_use_id: call.toolUseId?.slice(0, 100) ?? null,
        input_sha256: sha256(canonicalJson(call.input)),
      },
      clock().toISOString(),
    );
  });
  options.onChange();
  return errorReceipt(
    'not_authorized',
    'This call matches no authorised action and was not carried out.',
  );
}

function limitReceipt(receipt: Receipt): Receipt {
  const text = truncateText(receipt.text, MAX_RECEIPT_TEXT_BYTES);
  if (text.length === receipt.text.length) return receipt;
  const note = '\n[cut here: an answer is at most 48 KiB; ask for less at a time]';
  return {
    ...receipt,
    text: truncateText(text, MAX_RECEIPT_TEXT_BYTES - note.length) + note,
    truncated: true,
  };
}

function errorReceipt(code: ToolErrorCode | 'internal', text: string): Receipt {
  return { text: `${code}: ${text}`, is_error: true, truncated: false, code };
}

/** An error that is not ours tells nothing of this machine's insides to the model. */
function toErrorReceipt(error: unknown): Receipt {
  if (error instanceof ReinsError) {
    return limitReceipt({
      text: `${error.code}: ${error.message}`,
      is_error: true,
      truncated: false,
      code: error.code,
    });
  }
  return errorReceipt(
    'internal',
    'The tool failed in a way that it does not know; try another way.',
  );
}
