import type * as z from 'zod';
import { ReinsError } from '../base/reins-error.ts';

/** A tool as far as its arguments go. */
export interface ToolInput {
  readonly name: string;
  readonly input: z.ZodType;
}

/** No tool takes values nested anywhere near as deep. */
const MAX_DEPTH = 32;
const REFRESH = 'if the tool was listed with another schema before, refresh the connector';

/** The arguments of a call, checked. Throws one sentence that names the parameter, its limit and what to do. */
export function parseArguments(tool: ToolInput, given: object): unknown {
  requireShallow(tool, given);
  const parsed = tool.input.safeParse(given);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.map(String).join('.') ?? '';
  if (issue?.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => [field, key].filter(Boolean).join('.')).join(', ');
    throw new ReinsError(
      'unknown_parameter',
      `${tool.name} has no parameter ${names}; leave it out, or ${REFRESH}.`,
    );
  }
  const missing = issue?.code === 'invalid_type' && valueAt(given, issue.path) === undefined;
  throw new ReinsError(
    'invalid_parameter',
    missing
      ? `${field} is required by ${tool.name} and missing; add it, or ${REFRESH}.`
      : `${field} is refused (${issue?.message ?? 'invalid'}); correct it, or ${REFRESH}.`,
  );
}

/** Throws `invalid_parameter` for a value that is nested so deep that walking it would exhaust the stack. */
function requireShallow(tool: ToolInput, given: object): void {
  let level: unknown[] = [given];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) {
      throw new ReinsError(
        'invalid_parameter',
        `The arguments of ${tool.name} are nested more than ${MAX_DEPTH} deep; send flatter values.`,
      );
    }
    level = level.flatMap((value) =>
      value !== null && typeof value === 'object' ? Object.values(value) : [],
    );
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((current, key) => {
    if (current === null || typeof current !== 'object') return undefined;
    return Reflect.get(current, key);
  }, value);
}
