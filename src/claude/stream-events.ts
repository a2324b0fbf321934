import * as z from 'zod';
import { parseJson } from '../base/parse-json.ts';

const initSchema = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('init'),
  session_id: z.string(),
  tools: z.array(z.string()),
  mcp_servers: z.array(z.looseObject({ name: z.string(), status: z.string() })),
  slash_commands: z.array(z.string()).optional(),
});

const resultSchema = z.looseObject({
  type: z.literal('result'),
  subtype: z.string(),
  is_error: z.boolean(),
  result: z.string().optional(),
  session_id: z.string().optional(),
});

/** The events of Claude Code's output stream that a session acts on. Every other kind is tolerated and dropped. */
export type ClaudeEvent =
  | {
      readonly kind: 'init';
      readonly tools: readonly string[];
      readonly servers: readonly string[];
    }
  | { readonly kind: 'result'; readonly isError: boolean; readonly text: string }
  | { readonly kind: 'other' };

/** Reads one line of stream-json. Total: a line that is no JSON or of an unknown kind is `other`. */
export function parseClaudeEvent(line: string): ClaudeEvent {
  const value = parseJson(line);
  const init = initSchema.safeParse(value);
  if (init.success) {
    const servers = init.data.mcp_servers.map((server) => `${server.name} ${server.status}`);
    return { kind: 'init', tools: init.data.tools, servers };
  }
  const result = resultSchema.safeParse(value);
  if (result.success) {
    const { is_error: isError, subtype, result: text } = result.data;
    return { kind: 'result', isError, text: text ?? `Claude Code ended the run as ${subtype}.` };
  }
  return { kind: 'other' };
}
