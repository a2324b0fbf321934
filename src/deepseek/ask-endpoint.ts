import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { systemErrorCode } from '../base/system-error-code.ts';
import { withinTime } from '../base/within-time.ts';
import type { DeepseekSettings } from './deepseek-settings.ts';
import { type EndpointMessage, MessageAssembler, type TokenCounts } from './message-assembler.ts';

export type EndpointFailureCode =
  | 'endpoint_unreachable'
  | 'authentication_failed'
  | 'payment_required'
  | 'rate_limited'
  | 'endpoint_failed'
  | 'request_rejected'
  | 'answer_malformed'
  | 'answer_cut_off'
  | 'answer_refused';

export type EndpointAnswer =
  | { readonly kind: 'answer'; readonly message: EndpointMessage }
  | {
      readonly kind: 'failed';
      readonly code: EndpointFailureCode;
      readonly message: string;
      /** Of all attempts: what is thrown away is paid for as well. */
      readonly tokens: TokenCounts;
    };

type Outcome =
  | { readonly kind: 'answer'; readonly message: EndpointMessage }
  | { readonly kind: 'failed'; readonly code: EndpointFailureCode; readonly message: string };

interface Attempt {
  readonly outcome: Outcome;
  /** Whether the same request can be expected to fare better a moment later, and when. Milliseconds. */
  readonly retryAfterMs: number | null;
}

/** A request is asked once and after these pauses again, when the failure is one that passes. Milliseconds. */
const PAUSES_MS = [1_000, 4_000];
/** An endpoint that asks for more patience than this is not waited for, in milliseconds. */
const MAX_PAUSE_MS = 30_000;
/** DeepSeek sends a sign of life while a request waits for its turn; silence this long is none. Milliseconds. */
const SILENCE_MS = 240_000;
/** The most that an answer may be as it comes over the line, in bytes: a hundred times a long one. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** For the reason that an endpoint gives beside a bad status, in milliseconds. */
const QUOTE_MS = 5_000;
const MAX_QUOTE = 300;
const NO_TOKENS: TokenCounts = { inputTokens: 0, outputTokens: 0 };

/**
 * Asks the configured endpoint, and no other: a redirect is not followed. Asks again after a failure that passes (rate
 * limit, overload, no connection, a stream that was cut), which does nothing twice, because an answer counts whole or
 * not at all. Rejects when `signal` ends it. The key is in no answer.
 */
export async function askEndpoint(
  settings: DeepseekSettings,
  body: string,
  signal: AbortSignal,
): Promise<EndpointAnswer> {
  let tokens = NO_TOKENS;
  for (let attempt = 0; ; attempt += 1) {
    const assembler = new MessageAssembler();
    const { outcome, retryAfterMs } = await askOnce(settings, body, assembler, signal);
    if (outcome.kind === 'answer') return outcome;
    tokens = {
      inputTokens: tokens.inputTokens + assembler.tokens.inputTokens,
      outputTokens: tokens.outputTokens + assembler.tokens.outputTokens,
    };
    const pause = PAUSES_MS[attempt];
    if (retryAfterMs === null || pause === undefined || retryAfterMs > MAX_PAUSE_MS) {
      return { ...outcome, tokens };
    }
    await sleep(Math.max(pause, retryAfterMs), undefined, { signal });
  }
}

async function askOnce(
  settings: DeepseekSettings,
  body: string,
  assembler: MessageAssembler,
  signal: AbortSignal,
): Promise<Attempt> {
  const connection = new AbortController();
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const response = await fetch(`${settings.base_url.replace(/\/+$/, '')}/v1/messages`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'anthropic-version': '2023-06-01',
        'x-api-key': settings.api_key,
      },
      body,
      signal: AbortSignal.any([signal, silence.signal, connection.signal]),
    });
    timer.refresh();
    if (response.status !== 200) return await toRefusal(response, settings);
    const isRead = await readEvents(response, assembler, () => timer.refresh());
    if (!isRead) return final('answer_malformed', `is longer than ${MAX_ANSWER_BYTES} bytes`);
    return toAttempt(assembler, settings);
  } catch (error) {
    signal.throwIfAborted();
    if (silence.signal.aborted) {
      return passing(
        'endpoint_unreachable',
        `DeepSeek's endpoint said nothing for ${SILENCE_MS / 1000} s; try again later.`,
      );
    }
    const code = systemErrorCode(error instanceof Error ? error.cause : undefined);
    return passing(
      'endpoint_unreachable',
      `DeepSeek's endpoint at ${hostOf(settings)} could not be reached or broke the connection off (${code ?? 'no reason given'}); look at the network and at REINS_DEEPSEEK_BASE_URL.`,
    );
  } finally {
    clearTimeout(timer);
    // Whatever still comes is not for anybody.
    connection.abort();
  }
}

/** Reads until there is all that counts, or the stream ends. Returns false for one that is too long. */
async function readEvents(
  response: Response,
  assembler: MessageAssembler,
  onChunk: () => void,
): Promise<boolean> {
  const parser = createParser({ onEvent: ({ data }) => assembler.take(data) });
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    onChunk();
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) return false;
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (assembler.isDone) return true;
  }
  return true;
}

function toAttempt(assembler: MessageAssembler, settings: DeepseekSettings): Attempt {
  const assembly = assembler.finish();
  if (assembly.kind === 'error') return toStreamError(assembly.type);
  if (assembly.kind === 'incomplete') {
    return { ...final('answer_malformed', `is not whole: ${assembly.reason}`), retryAfterMs: 0 };
  }
  const { message } = assembly;
  if (JSON.stringify(message).includes(settings.api_key)) {
    return final('answer_malformed', 'has the API key in it and was thrown away');
  }
  switch (message.stopReason) {
    case 'end_turn':
    case 'stop_sequence':
    case 'tool_use':
      return { outcome: { kind: 'answer', message }, retryAfterMs: null };
    case 'max_tokens':
      return final('answer_cut_off', 'reached the limit of its length; give a smaller task');
    case 'refusal':
      return final('answer_refused', 'is a refusal; put the task in other words');
    default:
      return final('answer_malformed', 'ended for a reason that is not known here');
  }
}

/** The error types of the Messages API are those of its statuses. */
function toStreamError(type: string): Attempt {
  switch (type) {
    case 'rate_limit_error':
      return toStatusFailure(429, '', 0);
    case 'authentication_error':
    case 'permission_error':
      return toStatusFailure(401, '', 0);
    case 'invalid_request_error':
    case 'not_found_error':
      return toStatusFailure(400, '', 0);
    default:
      return toStatusFailure(500, '', 0);
  }
}

async function toRefusal(response: Response, settings: DeepseekSettings): Promise<Attempt> {
  const { status } = response;
  // What an endpoint says to a key that it does not accept may show parts of the key.
  const said = [401, 402, 403].includes(status) ? '' : await quote(response, settings);
  return toStatusFailure(status, said, readRetryAfter(response));
}

function toStatusFailure(status: number, said: string, retryAfterMs: number): Attempt {
  switch (status) {
    case 401:
    case 403:
      return permanent(
        'authentication_failed',
        'DeepSeek does not accept the API key; correct REINS_DEEPSEEK_API_KEY or the key file, then stop and continue the session.',
      );
    case 402:
      return permanent(
        'payment_required',
        'The DeepSeek account has no balance left; top it up and start another subagent.',
      );
    case 429:
      return {
        ...passing(
          'rate_limited',
          `DeepSeek takes no more requests now${said}; start another subagent later.`,
        ),
        retryAfterMs,
      };
    default:
      if (status >= 500) {
        return {
          ...passing(
            'endpoint_failed',
            `DeepSeek failed with status ${status}${said}; start another subagent later.`,
          ),
          retryAfterMs,
        };
      }
      return permanent(
        'request_rejected',
        `DeepSeek's endpoint did not take the request, with status ${status}${said}; look at REINS_DEEPSEEK_BASE_URL and the variables of its models.`,
      );
  }
}

/** The beginning of what the endpoint said, in brackets, on one line and without the key; nothing if it takes long. */
async function quote(response: Response, settings: DeepseekSettings): Promise<string> {
  let text = '';
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > 4 * MAX_QUOTE) return;
    }
  };
  await withinTime(
    read().catch(() => {}),
    QUOTE_MS,
  );
  const line = text
    .replaceAll(settings.api_key, '[key]')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, MAX_QUOTE)
    .trim();
  return line === '' ? '' : ` (${line})`;
}

function readRetryAfter(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? '0');
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}

const hostOf = ({ base_url }: DeepseekSettings): string => new URL(base_url).host;

const permanent = (code: EndpointFailureCode, message: string): Attempt => ({
  outcome: { kind: 'failed', code, message },
  retryAfterMs: null,
});

const passing = (code: EndpointFailureCode, message: string): Attempt => ({
  ...permanent(code, message),
  retryAfterMs: 0,
});

const final = (code: EndpointFailureCode, what: string): Attempt =>
  permanent(code, `DeepSeek's answer ${what}.`);
