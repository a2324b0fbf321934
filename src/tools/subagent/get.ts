import * as z from 'zod';
import { defineObservingTool } from '../tool.ts';
import { requireSubagents, subsessionId } from './require-subagents.ts';

/** Below the shortest limit of a client, which waits for the turn that this call leads to. Seconds. */
const MAX_WAIT_SECONDS = 30;
const DEFAULT_WAIT_SECONDS = 20;

export const subagentGetTool = defineObservingTool({
  name: 'deepseek_subagent_get',
  description:
    'Shows a subagent: its state, its outcome once it has ended, what it did to which file, what it said last, and what it has used. Waits until it has ended or the time is up. What it says of its work is its word; Read shows what is there.',
  input: z.strictObject({
    subsession_id: subsessionId,
    wait_seconds: z
      .number()
      .min(0)
      .max(MAX_WAIT_SECONDS)
      .optional()
      .describe(`How long to wait for its end. Default ${DEFAULT_WAIT_SECONDS}.`),
  }),
  async execute(input, context) {
    const subagents = requireSubagents(context);
    subagents.describe(input.subsession_id);
    const waitMs = (input.wait_seconds ?? DEFAULT_WAIT_SECONDS) * 1000;
    await subagents.ended(input.subsession_id, waitMs);
    return {
      text: subagents.describe(input.subsession_id),
      truncated: false,
    };
  },
});
