import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A Messages API on loopback whose answers are given by a script, one request after the other. */
export async function startMessagesApi() {
  const arrived = [];
  const waiting = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const body = await buffer(request);
    if (request.method !== 'POST') response.writeHead(200).end();
    else if (pathname === '/v1/messages/count_tokens') {
      sendJson(response, { input_tokens: Math.ceil(body.length / 4) });
    } else if (pathname === '/v1/messages') {
      const modelRequest = toModelRequest(JSON.parse(body.toString('utf8')), response);
      // Only the agent loop offers tools; a request without them is a side question.
      if (modelRequest.tools.length === 0) modelRequest.answer({ text: 'Not available.' });
      else if (waiting.length > 0) waiting.shift()(modelRequest);
      else arrived.push(modelRequest);
    } else response.writeHead(404).end();
  });
  server.requestTimeout = 0;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}`,
    /** The next request of the agent loop. */
    next: () =>
      arrived.length > 0
        ? Promise.resolve(arrived.shift())
        : new Promise((resolve) => waiting.push(resolve)),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function toModelRequest({ model, messages, tools = [] }, response) {
  return {
    arrivedAt: performance.now(),
    messages,
    tools: tools.map(({ name }) => name),
    /** Writes the whole answer in one burst and returns the moment at which it was written. */
    answer({ text, toolUse }) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(toStream(model, text, toolUse));
      return performance.now();
    },
  };
}

function toStream(model, text, toolUse) {
  const block = toolUse
    ? { type: 'tool_use', id: `toolu_${randomBytes(12).toString('hex')}`, name: toolUse.name }
    : { type: 'text' };
  const start = toolUse ? { ...block, input: {} } : { ...block, text: '' };
  const delta = toolUse
    ? { type: 'input_json_delta', partial_json: JSON.stringify(toolUse.input) }
    : { type: 'text_delta', text };
  const message = {
    id: `msg_${randomBytes(12).toString('hex')}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  return [
    event('message_start', { message }),
    event('content_block_start', { index: 0, content_block: start }),
    event('content_block_delta', { index: 0, delta }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: toolUse ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { input_tokens: 10, output_tokens: 10 },
    }),
    event('message_stop', {}),
  ].join('');
}

function event(type, data) {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

function sendJson(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
