import { statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectHttp, connectStdio, type HttpGateway } from '../support/gateway.ts';
import { ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: HttpGateway;

beforeAll(async () => {
  home = createTestHome();
  gateway = await connectHttp(home);
});

afterAll(async () => {
  await gateway.close();
  await home.dispose();
});

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

/** Sends a request with exactly these headers and returns its status. */
function send(headers: Record<string, string>, path = '/mcp', body = LIST): Promise<number> {
  const { port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          host: `127.0.0.1:${port}`,
          ...headers,
        },
      },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
      },
    );
    // A server that has read enough closes while the rest is still being sent: refused without a status.
    sent.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' || error.code === 'ECONNRESET') resolve(0);
      else reject(error);
    });
    sent.end(body);
  });
}

const bearer = (): Record<string, string> => ({ authorization: `Bearer ${gateway.token}` });

test('B7 with token, host and no origin the request is served', async () => {
  expect(await send(bearer())).toBe(200);
  expect(await send({ ...bearer(), origin: 'http://localhost:3000' })).toBe(200);
});

test('B7 T35 no, a wrong, a truncated or a query-string token is refused', async () => {
  expect(await send({})).toBe(401);
  expect(await send({ authorization: gateway.token })).toBe(401);
  expect(await send({ authorization: `Bearer ${gateway.token.slice(1)}` })).toBe(401);
  expect(await send({ authorization: `Bearer ${gateway.token}x` })).toBe(401);
  expect(await send({ authorization: `Basic ${gateway.token}` })).toBe(401);
  expect(await send({}, `/mcp?token=${gateway.token}`)).toBe(401);
});

test('B7 T34 a foreign host or origin is refused even with the token', async () => {
  for (const host of [
    'evil.example',
    'evil.example:80',
    '127.0.0.1.evil.example',
    '169.254.169.254',
  ]) {
    expect(await send({ ...bearer(), host }), host).toBe(403);
  }
  for (const origin of [
    'https://evil.example',
    'null',
    'http://localhost.evil.example',
    'file://',
  ]) {
    expect(await send({ ...bearer(), origin }), origin).toBe(403);
  }
});

test('B7 T39 other paths, other media types and hostile bodies are refused, and serving goes on', async () => {
  expect(await send(bearer(), '/')).toBe(404);
  expect(await send(bearer(), '/mcp/../other')).toBe(404);
  expect(await send({ ...bearer(), 'content-type': 'text/plain' })).toBe(415);
  expect(await send(bearer(), '/mcp', '{')).toBe(400);
  expect(
    await send(bearer(), '/mcp', `${'['.repeat(100_000)}${']'.repeat(100_000)}`),
  ).toBeGreaterThanOrEqual(400);
  const tooLarge = JSON.stringify('x'.repeat(9 * 1024 * 1024));
  expect([0, 413]).toContain(await send(bearer(), '/mcp', tooLarge));
  expect(await send(bearer())).toBe(200);
});

test('N47 the token is kept for the user alone and is the same for the next gateway', async () => {
  expect(statSync(join(home.state, 'http-token')).mode & 0o777).toBe(0o600);
  const second = await connectHttp(home);
  expect(second.token).toBe(gateway.token);
  await second.close();
});

test('B7 F37 stdio and HTTP serve one session at the same time, and the same reply from both acts once', async () => {
  const other = await connectStdio(home);
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    capability_profile: 'direct_write',
  });
  const reply = {
    tool_calls: [{ name: 'Write', input: { file_path: 'once.txt', content: 'once\n' } }],
  };
  const over = { turn_id: session.turnId, reply_id: 'the-same' };
  const twin = Object.assign(Object.create(Object.getPrototypeOf(session)), session);
  twin.client = other.client;
  const [first, second] = await Promise.all([session.reply(reply, over), twin.reply(reply, over)]);
  expect([first.replay, second.replay].sort()).toEqual([false, true]);
  expect(second.pending_turn?.turn_id).toBe(first.pending_turn?.turn_id);
  expect(second.pending_turn?.messages).toEqual(first.pending_turn?.messages);
  expect(first.pending_turn?.messages).toHaveLength(1);
  await session.stop();
  await other.close();
});
