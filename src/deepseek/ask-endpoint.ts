import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { systemErrorCode } from '../base/system-error-code.ts';
import type { DeepseekSettings } from './deepseek-settings.ts';
import { type EndpointMessage, MessageAssembler } from './message-assembler.ts';

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
  | { readonly kind: 'failed'; readonly code: EndpointFailureCode; readonly message: string };

type Failure = Extract<EndpointAnswer, { kind: 'failed' }>;
interface Attempt {
  readonly answer: EndpointAnswer;
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
const MAX_QUOTE = 300;

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
  for (let attempt = 0; ; attempt += 1) {
    const { answer, retryAfterMs } = await askOnce(settings, body, signal);
    const pause = PAUSES_MS[attempt];
    if (retryAfterMs === null || pause === undefined || retryAfterMs > MAX_PAUSE_MS) return answer;
    await sleep(Math.max(pause, retryAfterMs), undefined, { signal });
  }
}

async function askOnce(
  settings: DeepseekSettings,
  body: string,
  signal: AbortSignal,
): Promise<Attempt> {
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
      signal: AbortSignal.any([signal, silence.signal]),
    });
    timer.refresh();
    if (response.status !== 200) return await toRefusal(response, settings);
    const assembler = new MessageAssembler();
    const parser = createParser({ onEvent: ({ data }) => assembler.take(data) });
    const decoder = new TextDecoder();
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      timer.refresh();
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) {
        return final('answer_malformed', `is longer than ${MAX_ANSWER_BYTES} bytes`);
      }
      parser.feed(decoder.decode(chunk, { stream: true }));
    }
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
  }
}

function toAttempt(assembler: MessageAssembler, settings: DeepseekSettings): Attempt {
  const assembly = assembler.finish();
  if (assembly.kind === 'error') {
    return assembly.type === 'overloaded_error' || assembly.type === 'api_error'
      ? passing('endpoint_failed', 'DeepSeek broke its answer off as overloaded; try again later.')
      : final('answer_malformed', 'was broken off with an error');
  }
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
      return { answer: { kind: 'answer', message }, retryAfterMs: null };
    case 'max_tokens':
      return final('answer_cut_off', 'reached the limit of its length; give a smaller task');
    case 'refusal':
      return final('answer_refused', 'is a refusal; put the task in other words');
    default:
      return final('answer_malformed', 'ended for a reason that is not known here');
  }
}

async function toRefusal(response: Response, settings: DeepseekSettings): Promise<Attempt> {
  const { status } = response;
  const said = await quote(response, settings);
  switch (status) {
    case 401:
    case 403:
      // What an endpoint says here may show parts of the key.
      return {
        answer: {
          kind: 'failed',
          code: 'authentication_failed',
          message: `DeepSeek does not accept the API key (status ${status}); correct REINS_DEEPSEEK_API_KEY or the key file.`,
        },
        retryAfterMs: null,
      };
    case 402:
      return {
        answer: {
          kind: 'failed',
          code: 'payment_required',
          message: 'The DeepSeek account has no balance left (status 402); top it up.',
        },
        retryAfterMs: null,
      };
    case 429:
      return {
        ...passing('rate_limited', `DeepSeek takes no more requests now (status 429)${said}.`),
        retryAfterMs: readRetryAfter(response),
      };
    default:
      if (status >= 500) {
        return {
          ...passing('endpoint_failed', `DeepSeek failed (status ${status})${said}.`),
          retryAfterMs: readRetryAfter(response),
        };
      }
      return {
        answer: {
          kind: 'failed',
          code: 'request_rejected',
          message: `DeepSeek's endpoint did not take the request (status ${status})${said}.`,
        },
        retryAfterMs: null,
      };
  }
}

/** The beginning of what the endpoint said, in brackets, on one line and without the key. */
async function quote(response: Response, settings: DeepseekSettings): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > 4 * MAX_QUOTE) break;
  }
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

const failed = (code: EndpointFailureCode, message: string): Failure => ({
  kind: 'failed',
  code,
  message,
});

const passing = (code: EndpointFailureCode, message: string): Attempt => ({
  answer: failed(code, message),
  retryAfterMs: 0,
});

const final = (code: EndpointFailureCode, what: string): Attempt => ({
  answer: failed(code, `DeepSeek's answer ${what}.`),
  retryAfterMs: null,
});
