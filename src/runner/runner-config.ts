import * as z from 'zod';
import { FAILPOINTS } from '../base/failpoint.ts';
import { isSessionId, type SessionId } from '../base/ids.ts';
import { parseJson } from '../base/parse-json.ts';
import { deepseekSettingsSchema } from '../deepseek/deepseek-settings.ts';

/**
 * What a gateway writes to the stdin of the runner that it starts. The one secret in it is the DeepSeek key, for a
 * session that may have subagents: a pipe shows it to nobody else, and the runner keeps it in its memory alone.
 */
export const runnerConfigSchema = z.strictObject({
  state_directory: z.string().startsWith('/'),
  session_id: z.custom<SessionId>(isSessionId),
  /** Home of the person whose computer this is: the place of the credentials that are protected. */
  user_home: z.string().startsWith('/'),
  claude: z.strictObject({ explicit: z.string().nullable(), path: z.string(), home: z.string() }),
  /** What the user adds to the protected places, and what of them the user has opened. */
  protection: z.strictObject({ closed: z.array(z.string()), opened: z.array(z.string()) }),
  /** What commands get of the user's environment: where to find programs. */
  search_path: z.string(),
  tool_locations: z.record(z.string(), z.string()),
  compact_window_tokens: z.int().positive().nullable(),
  deepseek: deepseekSettingsSchema.nullable(),
  failpoint: z.enum(FAILPOINTS).nullable(),
});
export type RunnerConfig = z.infer<typeof runnerConfigSchema>;

export function parseRunnerConfig(text: string): RunnerConfig {
  return runnerConfigSchema.parse(parseJson(text));
}
