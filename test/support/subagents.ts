import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { type Deepseek, startDeepseek } from './deepseek.ts';
import { type ConnectedGateway, connectStdio } from './gateway.ts';
import { makeRepository } from './repository.ts';
import { ScriptedSession, type ToolCall } from './scripted-client.ts';
import { createTestHome, type TestHome } from './test-home.ts';

const subagentSchema = z.looseObject({
  subsession_id: z.string(),
  model_class: z.string(),
  model: z.string(),
  state: z.string(),
  turns: z.number(),
  outcome: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});
const describedSchema = subagentSchema.extend({
  action_count: z.number(),
  actions: z.array(z.looseObject({ tool: z.string(), state: z.string() })),
  last_text: z.string(),
});
export type DescribedSubagent = z.infer<typeof describedSchema>;

/** A session that may have subagents, with its DeepSeek, in a home of its own. */
export interface SubagentLab {
  readonly home: TestHome;
  readonly deepseek: Deepseek;
  gateway: ConnectedGateway;
  session: ScriptedSession;
  /** The session's worktree. */
  readonly root: string;
  start(task: string, over?: Record<string, unknown>): Promise<DescribedSubagent['subsession_id']>;
  get(over?: Record<string, unknown>): Promise<DescribedSubagent>;
  /** Asks again until the subagent has ended. */
  ended(): Promise<DescribedSubagent>;
  summaries(): z.infer<typeof subagentSchema>[];
  dispose(): Promise<void>;
}

export async function openSubagentLab(
  key: string,
  env: Record<string, string> = {},
): Promise<SubagentLab> {
  const deepseek = await startDeepseek(key);
  const home = createTestHome({
    REINS_DEEPSEEK_BASE_URL: deepseek.baseUrl,
    REINS_DEEPSEEK_API_KEY: key,
    ...env,
  });
  makeRepository(home.project, { 'a.txt': 'one\ntwo\n' });
  const gateway = await connectStdio(home);
  const session = await ScriptedSession.start(gateway.client, {
    working_directory: home.project,
    capability_profile: 'worktree_write',
    subagent_policy: 'deepseek_explicit',
  });
  const call = async (toolCall: ToolCall): Promise<string> => {
    const [result] = await lab.session.call(toolCall);
    if (result === undefined || result.is_error) {
      throw new Error(
        result?.text ?? `no result of ${toolCall.name}: ${JSON.stringify(lab.session.state)}`,
      );
    }
    return result.text;
  };
  const lab: SubagentLab = {
    home,
    deepseek,
    gateway,
    session,
    root: String(session.state.working_directory),
    async start(task, over = {}) {
      const input = { task, model_class: 'sonnet', ...over };
      const text = await call({ name: 'deepseek_subagent_start', input });
      return /sub_[\w-]{20}/.exec(text)?.[0] ?? '';
    },
    async get(over = {}) {
      const text = await call({ name: 'deepseek_subagent_get', input: over });
      return describedSchema.parse(JSON.parse(text));
    },
    async ended() {
      for (;;) {
        const seen = await lab.get({ wait_seconds: 30 });
        if (!['starting', 'running', 'stopping'].includes(seen.state)) return seen;
      }
    },
    summaries: () => z.array(subagentSchema).parse(lab.session.state['deepseek_subsessions']),
    async dispose() {
      await lab.gateway.close().catch(() => {});
      await home.dispose();
      await deepseek.close();
    },
  };
  return lab;
}

/** Every file below with this text in it, by whatever way it is written. */
export function filesWith(root: string, text: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => join(root, name))
    .filter((path) => {
      try {
        return statSync(path).isFile() && readFileSync(path, 'latin1').includes(text);
      } catch {
        return false;
      }
    });
}
