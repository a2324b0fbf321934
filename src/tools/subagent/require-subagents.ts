import * as z from 'zod';
import { ReinsError } from '../../base/reins-error.ts';
import type { ToolContext } from '../tool.ts';
import type { SubagentRuntime } from './subagent-runtime.ts';

export const subsessionId = z
  .string()
  .max(100)
  .optional()
  .describe('Which one; left out, the latest.');

/** Throws `subagent_unavailable`. */
export function requireSubagents({ subagents }: ToolContext): SubagentRuntime {
  if (subagents !== null) return subagents;
  throw new ReinsError(
    'subagent_unavailable',
    'This process has no subagents; start a session with subagent_policy deepseek_explicit.',
  );
}
