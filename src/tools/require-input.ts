import type { JsonObject } from '../base/canonical-json.ts';
import { ReinsError } from '../base/reins-error.ts';
import type { Tool } from './tool.ts';

/** Throws `tool_call_invalid`, naming the field and what is wrong with it. `where` is how the caller knows the input. */
export function requireInput(tool: Tool, input: JsonObject, where = 'input'): void {
  const parsed = tool.input.safeParse(input);
  if (parsed.success) return;
  const issue = parsed.error.issues[0];
  const field = [where, ...(issue?.path ?? [])].join('.');
  throw new ReinsError(
    'tool_call_invalid',
    `${field} of ${tool.name} is refused (${issue?.message ?? 'invalid'}); correct it as the tool's input_schema says.`,
  );
}
