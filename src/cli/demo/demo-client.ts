import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import * as z from 'zod';
import type { DemoStep } from './demo-script.ts';

const stateSchema = z.looseObject({
  status: z.string().nullable(),
  native_session_id: z.string().nullable(),
  lease_id: z.string().nullable(),
  pending_turn: z.looseObject({ turn_id: z.string() }).nullable(),
  launch_error: z.looseObject({ message: z.string() }).optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});
type State = z.infer<typeof stateSchema>;

/** An ordinary MCP client over stdio that follows a script. */
export interface DemoClient {
  /** Returns the session's id. Throws what the gateway says when there is no pending turn then. */
  start(directory: string, prompt: string): Promise<string | null>;
  reply(step: DemoStep): Promise<void>;
  stop(): Promise<void>;
  close(): Promise<void>;
}

export async function connectDemoClient(env: Record<string, string>): Promise<DemoClient> {
  const client = new Client({ name: 'reins-demo', version: '1' });
  const bin = fileURLToPath(new URL('../bin/reins.js', import.meta.url));
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [bin, 'stdio'], env }),
  );
  let state: State | undefined;
  let replies = 0;

  async function call(name: string, args: Record<string, unknown>): Promise<State> {
    const result = await client.callTool({ name, arguments: args });
    state = stateSchema.parse(result.structuredContent);
    const problem = state.error?.message ?? state.launch_error?.message;
    if (problem !== undefined) throw new Error(problem);
    return state;
  }

  async function stop(): Promise<void> {
    await call('native_session_stop', {
      ...ids(),
      request_id: 'demo-stop',
      reason: 'end of the demo',
    });
  }

  const ids = () => ({ native_session_id: state?.native_session_id, lease_id: state?.lease_id });

  return {
    async start(directory, prompt) {
      const started = await call('native_session_start', {
        prompt,
        working_directory: directory,
        capability_profile: 'direct_write',
        idempotency_key: 'demo',
        session_label: 'demo',
      });
      return started.native_session_id;
    },
    async reply(step) {
      replies += 1;
      await call('native_session_reply_and_wait', {
        ...ids(),
        turn_id: state?.pending_turn?.turn_id ?? '',
        reply_id: `demo-${replies}`,
        ...step,
      });
    },
    stop,
    async close() {
      if (state?.lease_id && state.status !== 'stopped') await stop().catch(() => {});
      await client.close();
    },
  };
}
