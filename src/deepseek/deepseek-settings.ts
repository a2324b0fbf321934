import * as z from 'zod';

/** DeepSeek's own endpoint that speaks the Messages API. */
export const DEFAULT_BASE_URL = 'https://api.deepseek.com/anthropic';
/** The names that the endpoint takes today; a user may set others, a calling model may not. */
export const DEFAULT_MODELS = { flash: 'deepseek-flash', pro: 'deepseek-v4-pro' } as const;

/** What it takes to ask the endpoint. Handed from a gateway to a runner through a pipe, and kept nowhere. */
export const deepseekSettingsSchema = z.strictObject({
  base_url: z.string(),
  api_key: z.string(),
  models: z.strictObject({ flash: z.string(), pro: z.string() }),
});
export type DeepseekSettings = z.infer<typeof deepseekSettingsSchema>;

export type DeepseekRoute = keyof DeepseekSettings['models'];

/** N33: which route each class of a subagent takes. There is no other and no way from one to the other. */
export const ROUTES = { sonnet: 'flash', opus: 'flash', fable: 'pro' } as const satisfies Record<
  string,
  DeepseekRoute
>;

/** Which model each class of a subagent gets. */
export function toDeepseekRoute(models: DeepseekSettings['models']): Record<string, string> {
  return Object.fromEntries(Object.entries(ROUTES).map(([name, route]) => [name, models[route]]));
}
