import { spawn } from 'node:child_process';
import * as z from 'zod';
import { REINS_BIN } from './gateway.ts';
import type { TestHome } from './test-home.ts';

const answerSchema = z.looseObject({
  id: z.number().optional(),
  result: z
    .looseObject({ content: z.array(z.looseObject({ text: z.string().optional() })).default([]) })
    .optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});
export type RpcAnswer = z.infer<typeof answerSchema>;

/** A client that speaks bare JSON-RPC over stdio, so that it can say what no library would. */
export interface RpcPeer {
  /** The protocol date that the server has answered with. */
  readonly protocolVersion: string;
  /** Every line that has come so far. */
  readonly lines: readonly string[];
  /** Resolves when the server has ended. */
  readonly ended: Promise<unknown>;
  /** Sends a line as it is. */
  write(line: string): void;
  request(method: string, params: Record<string, unknown>): Promise<RpcAnswer>;
  close(): Promise<void>;
}

export async function speakJsonRpc(
  home: TestHome,
  protocolVersion: string,
  args: readonly string[] = [],
  door: 'stdio' | 'delegate' = 'stdio',
): Promise<RpcPeer> {
  const child = spawn(process.execPath, [REINS_BIN, door, ...args], {
    env: home.env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const waiting = new Map<number, (answer: RpcAnswer) => void>();
  const lines: string[] = [];
  let text = '';
  let next = 0;
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      lines.push(text.slice(0, end));
      const answer = answerSchema.parse(JSON.parse(text.slice(0, end)));
      text = text.slice(end + 1);
      if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    }
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.on('error', () => {});
  const peer = {
    lines,
    ended,
    write: (line: string): void => void child.stdin.write(`${line}\n`),
    request(method: string, params: Record<string, unknown>): Promise<RpcAnswer> {
      next += 1;
      const id = next;
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
  const { result } = await peer.request('initialize', {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: 'reins-test', version: '1' },
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return { ...peer, protocolVersion: z.string().parse(result?.['protocolVersion']) };
}
