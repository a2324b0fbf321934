import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from '../base/read-body.ts';
import { secretsEqual } from '../base/session-tokens.ts';
import { sha256 } from '../base/sha256.ts';
import { classifyRequest, type RequestPurpose } from './classify-request.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { type HeldResponse, holdResponse } from './held-response.ts';
import { type MessagesRequest, parseMessagesRequest } from './parse-messages-request.ts';

/** How often a held stream shows that it lives. Claude Code's shortest watchdog is 300 s; a proxy's may be 60 s. */
const HEARTBEAT_MS = 15_000;
/** A conversation that fills a window of a million tokens is about 4 MB. */
const MAX_REQUEST_BYTES = 32 * 1024 * 1024;

/** A model request of Claude Code's agent loop, with its open response. */
export interface TurnRequest {
  readonly purpose: Exclude<RequestPurpose, 'side'>;
  readonly request: MessagesRequest;
  /** The whole request as it came. */
  readonly body: string;
  /** Equal for a request that is sent again. */
  readonly sha256: string;
  readonly held: HeldResponse;
}

export interface BridgeOptions {
  /** What `x-api-key` has to be. */
  readonly key: string;
  /** Null waits in silence and begins to answer once the answer is known, which allows for thinking in it. */
  readonly heartbeatMs?: number | null;
  /** Told of each request that needs the client; it answers through `held`, now or much later. */
  onTurnRequest(turn: TurnRequest): void;
}

/** Serves the part of the Messages API that Claude Code uses, with the session's client as the model. */
export type Bridge = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function createBridge(options: BridgeOptions): Bridge {
  return async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    if (isProbe(request.method, path)) {
      response.writeHead(200).end();
      return;
    }
    if (!hasKey(request, options.key)) {
      refuse(response, 401, 'authentication_error', 'This endpoint serves one session only.');
      return;
    }
    if (request.method !== 'POST' || !path.startsWith('/v1/messages')) {
      refuse(response, 404, 'not_found_error', 'Only the Messages API is served here.');
      return;
    }
    const body = await readBody(request, MAX_REQUEST_BYTES);
    if (body === undefined) {
      refuse(response, 413, 'request_too_large', `The limit is ${MAX_REQUEST_BYTES} bytes.`);
      return;
    }
    if (path === '/v1/messages/count_tokens') {
      sendJson(response, 200, { input_tokens: estimateTokens(body.length) });
      return;
    }
    if (path === '/v1/messages') {
      serveMessages(body, response, options);
      return;
    }
    refuse(response, 404, 'not_found_error', 'Only the Messages API is served here.');
  };
}

function serveMessages(body: Buffer, response: ServerResponse, options: BridgeOptions): void {
  const text = body.toString('utf8');
  const request = parseMessagesRequest(text);
  if (request === undefined) {
    refuse(response, 400, 'invalid_request_error', 'The body is not a Messages request.');
    return;
  }
  const purpose = classifyRequest(request);
  const held = holdResponse(
    response,
    { model: request.model, stream: request.stream, bytes: body.length },
    options.heartbeatMs === undefined ? HEARTBEAT_MS : options.heartbeatMs,
  );
  if (purpose === 'side') {
    held.answer({ text: 'Not available in this session.', toolUses: [] });
    return;
  }
  // The last message names a run or a tool call that no other request ends with, so it identifies the request.
  const last = request.message(request.messageCount - 1);
  const hash = sha256(JSON.stringify([purpose, request.messageCount, last]));
  options.onTurnRequest({ purpose, request, body: text, sha256: hash, held });
}

function isProbe(method: string | undefined, path: string): boolean {
  return (method === 'HEAD' || method === 'GET') && (path === '/' || path === '/api/hello');
}

function hasKey(request: IncomingMessage, key: string): boolean {
  const given = request.headers['x-api-key'];
  return typeof given === 'string' && secretsEqual(given, key);
}

/** Any 4xx other than 408, 409 and 429 makes Claude Code end the prompt at once instead of trying again. */
function refuse(response: ServerResponse, status: number, type: string, message: string): void {
  sendJson(response, status, { type: 'error', error: { type, message } });
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
