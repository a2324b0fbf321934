import * as z from 'zod';
import { defineControlTool } from '../tool.ts';
import { requireSubagents, subsessionId } from './require-subagents.ts';

export const subagentStopTool = defineControlTool({
  name: 'deepseek_subagent_stop',
  description:
    'Ends a subagent and waits until its process is gone. What it has changed stays, and can be undone like any change. One that has ended already stays as it is.',
  input: z.strictObject({ subsession_id: subsessionId }),
  async perform(input, context) {
    const subagents = requireSubagents(context);
    await subagents.stop(input.subsession_id);
    return {
      text: subagents.describe(input.subsession_id),
      truncated: false,
    };
  },
});
