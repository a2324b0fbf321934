import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import * as z from 'zod';

const requestSchema = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  tools: z.array(z.looseObject({ name: z.string() })).default([]),
  system: z.unknown(),
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
    }),
  ),
});
export type ModelRequest = z.infer<typeof requestSchema>;

/** What the model says to one request. */
export type ModelAnswer =
  | { readonly text: string }
  | { readonly tool: string; readonly input: Record<string, unknown> }
  | { readonly status: number; readonly message: string }
  /** Begins to answer and says no more. */
  | { readonly stall: string }
  /** Waits, and answers when it is told to. */
  | { readonly when: Promise<unknown>; readonly text: string };

/** A Messages API on loopback whose model is a list of answers; after its end it says "done". */
export interface MessagesApi {
  readonly baseUrl: string;
  /** What the agent loop has asked so far. */
  readonly requests: readonly ModelRequest[];
  /** The texts of the user's latest message in the latest request. */
  lastTexts(): readonly string[];
  /** What it answers next, in place of whatever it was to answer. */
  script(...answers: ModelAnswer[]): void;
  close(): Promise<void>;
}

export async function startMessagesApi(): Promise<MessagesApi> {
  const requests: ModelRequest[] = [];
  const answers: ModelAnswer[] = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    if (request.method !== 'POST') return void response.writeHead(200).end();
    const body: unknown = await json(request);
    if (pathname !== '/v1/messages') return sendJson(response, 200, { input_tokens: 100 });
    const asked = requestSchema.parse(body);
    // Only the agent loop offers tools; anything else is a side question.
    if (asked.tools.length === 0) return answer(response, asked.model, { text: 'none' });
    requests.push(asked);
    answer(response, asked.model, answers.shift() ?? { text: 'done' });
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    lastTexts() {
      const content = requests.at(-1)?.messages.findLast(({ role }) => role === 'user')?.content;
      const parts = typeof content === 'string' ? [{ text: content }] : (content ?? []);
      return parts.map((part) => z.string().catch('').parse(part['text']));
    },
    script: (...next) => void answers.splice(0, answers.length, ...next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, model: string, said: ModelAnswer): void {
  if ('status' in said) {
    const error = { type: 'permission_error', message: said.message };
    sendJson(response, said.status, { type: 'error', error });
    return;
  }
  if ('when' in said) {
    void said.when.then(() => answer(response, model, { text: said.text }));
    return;
  }
  const event = (type: string, data: Record<string, unknown>): void =>
    void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  const usage = { input_tokens: 10, output_tokens: 10 };
  const id = randomUUID().replaceAll('-', '');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  event('message_start', {
    message: {
      ...{ id: `msg_${id}`, type: 'message', role: 'assistant', model, content: [], usage },
      ...{ stop_reason: null, stop_sequence: null },
    },
  });
  const isTool = 'tool' in said;
  event('content_block_start', {
    index: 0,
    content_block: isTool
      ? { type: 'tool_use', id: `toolu_${id}`, name: said.tool, input: {} }
      : { type: 'text', text: '' },
  });
  event('content_block_delta', {
    index: 0,
    delta: isTool
      ? { type: 'input_json_delta', partial_json: JSON.stringify(said.input) }
      : { type: 'text_delta', text: 'stall' in said ? said.stall : said.text },
  });
  if ('stall' in said) return;
  event('content_block_stop', { index: 0 });
  const stop = { stop_reason: isTool ? 'tool_use' : 'end_turn', stop_sequence: null };
  event('message_delta', { delta: stop, usage });
  event('message_stop', {});
  response.end();
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  // Without the second header a refusal is tried again for minutes.
  response
    .writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' })
    .end(JSON.stringify(value));
}
