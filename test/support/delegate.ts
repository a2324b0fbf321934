import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import * as z from 'zod';
import { installFake } from './fake-claude.ts';
import { REINS_BIN } from './gateway.ts';
import type { TestHome } from './test-home.ts';

const codedError = z.looseObject({ code: z.string(), message: z.string() });

/** The fixed interface of a run, as a client that knows nothing else would read it. */
const runSchema = z.looseObject({
  run_id: z.string().nullable(),
  state: z
    .enum(['starting', 'running', 'completed', 'failed', 'cancelled', 'timed_out'])
    .nullable(),
  completed: z.boolean(),
  is_error: z.boolean(),
  error: codedError.nullable(),
  session_id: z.string().nullable(),
  final_event: z.looseObject({ result: z.string().nullish() }).nullable(),
  exit_code: z.number().nullable(),
  signal: z.string().nullable(),
  cleanup_confirmed: z.boolean(),
  cleanup_error: codedError.nullable(),
});
export type RunResult = z.infer<typeof runSchema>;

const pageSchema = z.looseObject({
  events: z.array(z.looseObject({ type: z.string() })),
  next_cursor: z.number(),
  has_more: z.boolean(),
  missed_events: z.number(),
  omitted_events: z.number(),
});
export type EventsPage = z.infer<typeof pageSchema>;

const resultSchema = z.object({ result: z.looseObject({}) });

export interface DelegateCall {
  readonly isError: boolean;
  readonly result: Record<string, unknown>;
}

/** An adapter process and an MCP client that is connected to it. */
export class Delegate {
  readonly client: Client;
  readonly pid: number;

  private constructor(client: Client, pid: number) {
    this.client = client;
    this.pid = pid;
  }

  static async connect(
    home: TestHome,
    env: Record<string, string> = {},
    args: readonly string[] = [],
  ): Promise<Delegate> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [REINS_BIN, 'delegate', ...args],
      env: { ...home.env, ...env },
      cwd: home.project,
      stderr: 'ignore',
    });
    const client = new Client({ name: 'reins-test', version: '1' });
    await client.connect(transport);
    const pid = transport.pid;
    if (pid === null) throw new Error('the adapter has no pid');
    return new Delegate(client, pid);
  }

  /** With one of the stand-ins for Claude Code. */
  static withFake(
    home: TestHome,
    fake: string,
    env: Record<string, string> = {},
  ): Promise<Delegate> {
    return Delegate.connect(home, { CLAUDE_BIN: installFake(home, fake), ...env });
  }

  async call(
    name: string,
    args: Record<string, unknown> = {},
    meta?: Record<string, unknown>,
    options: Parameters<Client['callTool']>[1] = {},
  ): Promise<DelegateCall> {
    const answer = await this.client.callTool(
      { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) },
      { timeout: 120_000, ...options },
    );
    const { result } = resultSchema.parse(answer.structuredContent);
    return { isError: answer.isError === true, result };
  }

  /** A call whose answer is a run; whether it is an error has to agree with what the run says of itself. */
  async #callForRun(name: string, args: Record<string, unknown>): Promise<RunResult> {
    const { isError, result } = await this.call(name, args);
    const run = runSchema.parse(result);
    if (isError !== run.is_error) throw new Error('isError and is_error do not agree');
    if (run.is_error !== (run.error !== null)) throw new Error('is_error and error do not agree');
    return run;
  }

  run(args: Record<string, unknown> = {}): Promise<RunResult> {
    return this.#callForRun('claude.run', { prompt: 'Do what the script says.', ...args });
  }

  start(args: Record<string, unknown> = {}): Promise<RunResult> {
    return this.#callForRun('claude.run.start', { prompt: 'Do what the script says.', ...args });
  }

  result(id: string | null, waitSeconds = 0): Promise<RunResult> {
    return this.#callForRun('claude.run.result', { run_id: id, wait_seconds: waitSeconds });
  }

  async cancel(id: string | null): Promise<RunResult> {
    const { result } = await this.call('claude.run.cancel', { run_id: id });
    return runSchema.parse(result);
  }

  async events(id: string | null, args: Record<string, unknown> = {}): Promise<EventsPage> {
    const { result } = await this.call('claude.run.events', { run_id: id, ...args });
    return pageSchema.parse(result);
  }

  async list(): Promise<RunResult[]> {
    const { result } = await this.call('claude.run.list');
    return z.array(runSchema.omit({ final_event: true })).parse(result['runs']) as RunResult[];
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
