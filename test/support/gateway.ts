import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import * as z from 'zod';
import type { TestHome } from './test-home.ts';

export const REINS_BIN = fileURLToPath(new URL('../../bin/reins.js', import.meta.url));

/** A gateway process and an MCP client that is connected to it. */
export interface ConnectedGateway {
  readonly client: Client;
  readonly pid: number;
  close(): Promise<void>;
  /** Ends the gateway as a crash would. */
  kill(): Promise<void>;
}

export async function connectStdio(
  home: TestHome,
  args: readonly string[] = [],
): Promise<ConnectedGateway> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [REINS_BIN, 'stdio', ...args],
    env: home.env,
    stderr: 'ignore',
  });
  const client = new Client({ name: 'reins-test', version: '1' });
  await client.connect(transport);
  const pid = transport.pid;
  if (pid === null) throw new Error('the gateway has no pid');
  return {
    client,
    pid,
    close: () => client.close(),
    async kill() {
      process.kill(pid, 'SIGKILL');
      await client.close();
    },
  };
}

const announcement = z.strictObject({ url: z.string(), token: z.string() });

export interface HttpGateway extends ConnectedGateway {
  readonly url: string;
  readonly token: string;
}

/** `reins serve` on a free port, with one client on it. */
export async function connectHttp(home: TestHome): Promise<HttpGateway> {
  const child = spawn(process.execPath, [REINS_BIN, 'serve', '--port', '0', '--json'], {
    env: home.env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { url, token } = announcement.parse(JSON.parse(await firstLine(child)));
  const client = new Client({ name: 'reins-test', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    }),
  );
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    await client.close();
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  return {
    client,
    url,
    token,
    pid: child.pid ?? 0,
    close: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.setEncoding('utf8');
    child.stdout?.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
    });
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}`)));
  });
}
