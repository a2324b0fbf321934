import * as z from 'zod';
import { SUBAGENT_CLASSES } from '../../ledger/subsessions.ts';
import { defineControlTool } from '../tool.ts';
import { wellFormedText } from '../well-formed-text.ts';
import { requireSubagents } from './require-subagents.ts';

/** A task is words for a model, with room for a pasted file. Bytes of UTF-8. */
const MAX_TASK_BYTES = 64 * 1024;
const DEFAULT_TURNS = 40;
const MAX_TURNS = 200;
const DEFAULT_MINUTES = 30;
const MAX_MINUTES = 120;

export const subagentStartTool = defineControlTool({
  name: 'deepseek_subagent_start',
  description:
    "Hands one task to a subagent: a second Claude Code with DeepSeek as its model, the user's DeepSeek account paying, working in the same worktree with the same tools. Has to be the only call of its reply and returns at once. Until the subagent has ended, this session can read, get and stop, and change nothing. It sees the task and the files, nothing of this conversation. Nothing falls back to another model.",
  input: z.strictObject({
    task: wellFormedText
      .refine((task) => task.trim() !== '', 'is empty')
      .refine(
        (task) => Buffer.byteLength(task) <= MAX_TASK_BYTES,
        `is longer than ${MAX_TASK_BYTES} bytes`,
      )
      .describe('All that the subagent is told.'),
    model_class: z
      .enum(SUBAGENT_CLASSES)
      .describe('sonnet and opus run on DeepSeek Flash, fable on DeepSeek Pro.'),
    max_turns: z
      .int()
      .min(1)
      .max(MAX_TURNS)
      .optional()
      .describe(`Answers of the model after which it is ended. Default ${DEFAULT_TURNS}.`),
    max_minutes: z
      .int()
      .min(1)
      .max(MAX_MINUTES)
      .optional()
      .describe(`Time after which it is ended. Default ${DEFAULT_MINUTES}.`),
  }),
  async perform(input, context, action) {
    const task = {
      task: input.task,
      modelClass: input.model_class,
      maxTurns: input.max_turns ?? DEFAULT_TURNS,
      maxMinutes: input.max_minutes ?? DEFAULT_MINUTES,
    };
    const planned = requireSubagents(context).plan(task, action);
    return {
      text: JSON.stringify({
        subsession_id: planned.id,
        state: 'starting',
        note: 'It has been given the task. deepseek_subagent_get waits for it and shows how it stands; deepseek_subagent_stop ends it.',
      }),
      truncated: false,
      record: planned.record,
      begin: planned.begin,
    };
  },
});
