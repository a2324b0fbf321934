import type { Client } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { findPrivateText } from './test-home.ts';

const messageSchema = z.looseObject({
  kind: z.enum(['task', 'text', 'notice', 'tool_result']),
  text: z.string(),
  tool: z.string().optional(),
  call_id: z.string().optional(),
  is_error: z.boolean().optional(),
  truncated: z.boolean().optional(),
});

/** The fixed interface of N4, as a client that knows nothing else would read it. */
const stateSchema = z.looseObject({
  route: z.literal('chatgpt-main'),
  replay: z.boolean(),
  status: z.string().nullable(),
  native_session_id: z.string().nullable(),
  claude_session_id: z.string().nullable(),
  lease_id: z.string().nullable(),
  lease_expires_at: z.string().nullable(),
  revision: z.number().nullable(),
  runtime_attached: z.boolean().nullable(),
  working_directory: z.string().nullable(),
  pending_turn: z
    .looseObject({
      turn_id: z.string(),
      sequence: z.number(),
      full_context: z.boolean(),
      purpose: z.string(),
      messages: z.array(messageSchema),
      tools: z
        .array(z.looseObject({ name: z.string(), input_schema: z.looseObject({}) }))
        .optional(),
    })
    .nullable(),
  last_result: z.looseObject({ is_error: z.boolean(), text: z.string() }).optional(),
  launch_error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
  recovery_token: z.string().optional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
});
export type ClientState = z.infer<typeof stateSchema>;
export type ClientMessage = z.infer<typeof messageSchema>;

export interface ToolCall {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

/** Calls a tool and returns the structured state, refusals included. */
export async function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown>,
): Promise<ClientState> {
  const result = await client.callTool({ name, arguments: args });
  const leak = findPrivateText(JSON.stringify(result));
  if (leak !== undefined) throw new Error(`N46: the answer of ${name} contains ${leak}`);
  const state = stateSchema.parse(result.structuredContent);
  if ((result.isError === true) !== (state.error !== undefined)) {
    throw new Error('isError and error do not agree');
  }
  return state;
}

let counter = 0;
/** A key that no other call of this test run uses. */
export function freshKey(): string {
  counter += 1;
  return `key-${process.pid}-${counter}`;
}

/** A client with a session: remembers ids and the latest state, decides nothing by itself. */
export class ScriptedSession {
  client: Client;
  state: ClientState;
  leaseId: string;
  readonly id: string;
  readonly recoveryToken: string;

  private constructor(client: Client, state: ClientState) {
    this.client = client;
    this.state = state;
    this.id = required(state.native_session_id);
    this.leaseId = required(state.lease_id);
    this.recoveryToken = required(state.recovery_token);
  }

  static async start(
    client: Client,
    args: { working_directory: string; prompt?: string } & Record<string, unknown>,
  ): Promise<ScriptedSession> {
    const state = await callTool(client, 'native_session_start', {
      prompt: 'Do what the script says.',
      idempotency_key: freshKey(),
      ...args,
    });
    if (state.error !== undefined) throw new Error(state.error.message);
    return new ScriptedSession(client, state);
  }

  get messages(): readonly ClientMessage[] {
    return this.state.pending_turn?.messages ?? [];
  }

  get results(): readonly ClientMessage[] {
    return this.messages.filter(({ kind }) => kind === 'tool_result');
  }

  get turnId(): string {
    return required(this.state.pending_turn?.turn_id);
  }

  async reply(
    reply: { text?: string; tool_calls?: readonly ToolCall[] },
    over: Record<string, unknown> = {},
  ): Promise<ClientState> {
    const state = await callTool(this.client, 'native_session_reply_and_wait', {
      native_session_id: this.id,
      lease_id: this.leaseId,
      turn_id: this.state.pending_turn?.turn_id ?? 'none',
      reply_id: freshKey(),
      ...reply,
      ...over,
    });
    if (state.error === undefined) this.state = state;
    return state;
  }

  /** One reply with these calls; returns their results in order. */
  async call(...toolCalls: readonly ToolCall[]): Promise<readonly ClientMessage[]> {
    const state = await this.reply({ tool_calls: toolCalls });
    if (state.error !== undefined) {
      const { launch_error: launch, last_result: last } = await this.status();
      const why = JSON.stringify(launch ?? last ?? null);
      throw new Error(`${state.error.code}: ${state.error.message} Before: ${why}`);
    }
    return this.results;
  }

  async continue(prompt: string, over: Record<string, unknown> = {}): Promise<ClientState> {
    return this.#remember('native_session_continue', {
      lease_id: this.leaseId,
      prompt,
      idempotency_key: freshKey(),
      ...over,
    });
  }

  async status(over: Record<string, unknown> = {}): Promise<ClientState> {
    return this.#remember('native_session_status', { lease_id: this.leaseId, ...over });
  }

  async stop(over: Record<string, unknown> = {}): Promise<ClientState> {
    return this.#remember('native_session_stop', {
      lease_id: this.leaseId,
      request_id: freshKey(),
      ...over,
    });
  }

  async recover(over: Record<string, unknown> = {}): Promise<ClientState> {
    const state = await this.#remember('native_session_recover', {
      recovery_token: this.recoveryToken,
      recovery_id: freshKey(),
      ...over,
    });
    if (state.error === undefined) this.leaseId = required(state.lease_id);
    return state;
  }

  async #remember(tool: string, args: Record<string, unknown>): Promise<ClientState> {
    const state = await callTool(this.client, tool, { native_session_id: this.id, ...args });
    if (state.error === undefined) this.state = state;
    return state;
  }
}

function required<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined)
    throw new Error('the state lacks a value that it has to have');
  return value;
}
