import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { askEndpoint } from '../../../src/deepseek/ask-endpoint.ts';
import { toEvents } from '../../support/deepseek.ts';

const KEY = 'canary-of-the-deepseek-key';
const STREAM = { 'content-type': 'text/event-stream' };

let server: Server | undefined;

afterEach(async () => {
  const closing = server;
  server = undefined;
  if (closing === undefined) return;
  const closed = new Promise((resolve) => closing.close(resolve));
  closing.closeAllConnections();
  await closed;
});

/** Asks an endpoint that answers each request so, and says how often it was asked. */
async function ask(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  signal = new AbortController().signal,
) {
  let asked = 0;
  server = createServer((request, response) => {
    request.resume();
    asked += 1;
    answer(response, request);
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const settings = {
    base_url: `http://127.0.0.1:${port}/`,
    api_key: KEY,
    models: { flash: 'a', pro: 'b' },
  };
  const started = performance.now();
  const outcome = await askEndpoint(settings, '{}', signal);
  return { outcome, asked, tookMs: performance.now() - started };
}

const inStream = (events: string) => (response: ServerResponse) =>
  void response.writeHead(200, STREAM).end(events);

const errorEvent = (type: string): string =>
  `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type } })}\n\n`;

describe('N33 an answer', () => {
  test('is taken when it is whole, whether the endpoint closes the connection or not', async () => {
    const { outcome, asked, tookMs } = await ask((response) => {
      response.writeHead(200, STREAM).write(toEvents({ text: 'whole' }));
    });
    expect(outcome).toMatchObject({ kind: 'answer', message: { text: 'whole' } });
    expect(asked).toBe(1);
    expect(tookMs).toBeLessThan(20_000);
  });

  test('may have events of kinds that are not known', async () => {
    const unknown = 'event: news\ndata: {"type":"news","of":1}\n\n';
    const events = unknown + toEvents({ text: 'whole' }).replace(': keep-alive\n\n', unknown);
    expect((await ask(inStream(events))).outcome).toMatchObject({ kind: 'answer' });
  });

  test('may have a call without arguments', async () => {
    const events = [
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', name: 'a', input: '' },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
    expect((await ask(inStream(events.join('')))).outcome).toMatchObject({
      message: { toolUses: [{ name: 'a', input: {} }] },
    });
  });

  test.each([
    ['rate_limit_error', 'rate_limited', 3],
    ['overloaded_error', 'endpoint_failed', 3],
    ['authentication_error', 'authentication_failed', 1],
    ['invalid_request_error', 'request_rejected', 1],
    ['anything', 'endpoint_failed', 3],
  ])('that is broken off by %s is %s', async (type, code, times) => {
    const { outcome, asked } = await ask(inStream(errorEvent(type)));
    expect(outcome).toMatchObject({ kind: 'failed', code });
    expect(asked).toBe(times);
  });

  test('whose calls are nested without end is malformed, and what it cost is counted', async () => {
    const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    const events = toEvents({ calls: [{ tool: 'Read', input: { here: 1 } }] })
      .replace('{\\"here', JSON.stringify(deep).slice(1, -1))
      .replace('\\":1}', '');
    const { outcome } = await ask(inStream(events));
    expect(outcome).toMatchObject({
      kind: 'failed',
      code: 'answer_malformed',
      tokens: { inputTokens: 300, outputTokens: 60 },
    });
  });

  test('that unpacks to gigabytes is not unpacked to its end', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'));
    const { outcome, asked } = await ask((response) => {
      response.writeHead(200, { ...STREAM, 'content-encoding': 'gzip' }).end(bomb);
    });
    expect(outcome).toMatchObject({ code: 'answer_malformed' });
    expect(asked).toBe(1);
  });
});

describe('N33 a status counts', () => {
  test.each([
    [401, 'authentication_failed'],
    [402, 'payment_required'],
  ])('%i, whatever its body does', async (status, code) => {
    const { outcome, asked, tookMs } = await ask((response) => {
      response.writeHead(status, { 'content-length': '100000' }).write('x');
    });
    expect(outcome).toMatchObject({ kind: 'failed', code });
    expect(asked).toBe(1);
    expect(tookMs).toBeLessThan(20_000);
  });

  test.each([
    ['never ends', (response: ServerResponse) => response.writeHead(400).write(`why: ${KEY}`)],
    [
      'is cut',
      (response: ServerResponse) => {
        response.writeHead(400, { 'content-length': '100000' });
        response.write('why', () => response.destroy());
      },
    ],
    [
      'is not encoded as it says',
      (response: ServerResponse) =>
        response.writeHead(400, { 'content-encoding': 'gzip' }).end('no gzip'),
    ],
  ])('400, when its body %s', async (_what, answer) => {
    const { outcome, asked } = await ask(answer);
    expect(outcome).toMatchObject({ kind: 'failed', code: 'request_rejected' });
    expect(JSON.stringify(outcome)).not.toContain(KEY);
    expect(asked).toBe(1);
  });

  test('a redirect is none: the key goes to the configured endpoint alone', async () => {
    const paths: (string | undefined)[] = [];
    const { outcome } = await ask((response, request) => {
      paths.push(request.url);
      response.writeHead(308, { location: '/elsewhere' }).end();
    });
    expect(outcome).toMatchObject({ code: 'request_rejected' });
    expect(paths).toEqual(['/v1/messages']);
  });
});

test('N34 what is asked is given up when the subagent ends, also between two attempts', async () => {
  const ending = new AbortController();
  const asked = ask((response) => {
    response.writeHead(503).end();
    setTimeout(() => ending.abort(), 50);
  }, ending.signal);
  await expect(asked).rejects.toThrow();
});
