import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import * as z from 'zod';

const blockSchema = z.looseObject({ type: z.string(), text: z.string().optional() });
const requestSchema = z.looseObject({
  model: z.string(),
  stream: z.literal(true),
  tools: z.array(z.looseObject({ name: z.string() })).default([]),
  messages: z.array(
    z.looseObject({
      role: z.enum(['user', 'assistant']),
      content: z.union([z.string(), z.array(blockSchema)]),
    }),
  ),
});
export type DeepseekRequest = z.infer<typeof requestSchema> & {
  readonly headers: IncomingHttpHeaders;
};

export interface DeepseekCall {
  readonly tool: string;
  readonly input: Record<string, unknown>;
}

/** How the endpoint answers one request. */
export type DeepseekAnswer =
  | {
      readonly text?: string;
      readonly thinking?: string;
      readonly calls?: readonly DeepseekCall[];
      readonly stop?: string;
      /** Sent once this has come true. */
      readonly when?: Promise<unknown>;
    }
  | { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }
  /** Ends the connection in the middle of a tool call. */
  | { readonly cut: DeepseekCall }
  /** These bytes, as an event stream. */
  | { readonly raw: string }
  /** Takes the request and never answers. */
  | { readonly silent: true };

/** DeepSeek's Messages API on loopback, with a list of answers; after its end it says "done". */
export interface Deepseek {
  readonly baseUrl: string;
  readonly key: string;
  /** What has been asked, whatever came of it. */
  readonly requests: readonly DeepseekRequest[];
  script(...answers: readonly DeepseekAnswer[]): void;
  close(): Promise<void>;
}

/** As the real one does, it refuses a tool call in the history that has lost the thinking before it. */
export async function startDeepseek(key: string): Promise<Deepseek> {
  const requests: DeepseekRequest[] = [];
  const answers: DeepseekAnswer[] = [];
  let thought = false;
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    if (request.method !== 'POST' || pathname !== '/anthropic/v1/messages') {
      return void response.writeHead(404).end();
    }
    const asked = requestSchema.parse(await json(request));
    requests.push({ ...asked, headers: request.headers });
    if (request.headers['x-api-key'] !== key) return refuse(response, 401, 'no such key');
    if (thought && hasBareCall(asked)) {
      return refuse(response, 400, 'content[].thinking must be passed back to the API');
    }
    const answer = answers.shift() ?? { text: 'done' };
    if ('thinking' in answer) thought = true;
    await send(response, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}/anthropic`,
    key,
    requests,
    script: (...next) => void answers.splice(0, answers.length, ...next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function hasBareCall({ messages }: DeepseekRequest | z.infer<typeof requestSchema>): boolean {
  return messages.some(
    ({ role, content }) =>
      role === 'assistant' &&
      typeof content !== 'string' &&
      content.some(({ type }) => type === 'tool_use') &&
      content[0]?.type !== 'thinking',
  );
}

async function send(response: ServerResponse, answer: DeepseekAnswer): Promise<void> {
  if ('silent' in answer) return;
  if ('status' in answer) {
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    response.end(answer.body ?? '{}');
    return;
  }
  if ('raw' in answer) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer.raw);
    return;
  }
  if ('cut' in answer) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const head = toEvents({ calls: [answer.cut] }).split('event: content_block_stop')[0] ?? '';
    response.write(head, () => response.destroy());
    return;
  }
  await answer.when;
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(toEvents(answer));
}

/** The event stream of an answer, its texts in pieces. */
export function toEvents(answer: Extract<DeepseekAnswer, { text?: string }>): string {
  const {
    text,
    thinking,
    calls = [],
  } = answer as {
    text?: string;
    thinking?: string;
    calls?: readonly DeepseekCall[];
    stop?: string;
  };
  const blocks = [
    ...(thinking === undefined
      ? []
      : [
          {
            start: { type: 'thinking', thinking: '', signature: '' },
            deltas: [
              { type: 'thinking_delta', thinking },
              { type: 'signature_delta', signature: `signed:${thinking.length}` },
            ],
          },
        ]),
    ...(text === undefined
      ? []
      : [
          {
            start: { type: 'text', text: '' },
            deltas: [...text].map((piece) => ({ type: 'text_delta', text: piece })),
          },
        ]),
    ...calls.map(({ tool, input }, position) => {
      const argumentsText = JSON.stringify(input);
      const half = Math.floor(argumentsText.length / 2);
      return {
        // Ids of its own, the same in every answer: nothing may rely on them.
        start: {
          type: 'tool_use',
          id: `call_${position}`,
          name: `mcp__executor__${tool}`,
          input: {},
        },
        deltas: [argumentsText.slice(0, half), argumentsText.slice(half)].map((piece) => ({
          type: 'input_json_delta',
          partial_json: piece,
        })),
      };
    }),
  ];
  const stop = answer.stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn');
  const events = [
    { type: 'message_start', message: { usage: { input_tokens: 100, output_tokens: 0 } } },
    { type: 'ping' },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 20 } },
    { type: 'message_stop' },
  ];
  return events
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join(': keep-alive\n\n');
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: { type: 'error', message } }));
}
