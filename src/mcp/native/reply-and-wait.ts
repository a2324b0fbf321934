import * as z from 'zod';
import { MAX_CALLS_PER_REPLY } from '../../session/check-reply.ts';
import { leaseId, retryKey, sessionId } from './parameters.ts';
import { defineNativeTool } from './tool.ts';

/** N9: waits on its own, with time to spare below the 50 s in which every tool answers. */
const WAIT_MS = 40_000;

export const replyAndWaitTool = defineNativeTool({
  name: 'native_session_reply_and_wait',
  description:
    'Answers one pending turn and waits up to 40 s for the next. tool_calls are carried out on this computer and their results come with the next turn; text alone finishes the run. Reading reaches the whole computer except protected paths; in direct_write sessions Edit and Write change real files inside working_directory at once, with before-images kept. When the state comes back as running, the same call again or native_session_status picks it up. The next prompt goes through native_session_continue. Refused whole: an empty reply, over 768 KiB, an invalid call, a turn that is not pending.',
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  input: z.strictObject({
    native_session_id: sessionId,
    lease_id: leaseId,
    turn_id: z.string().describe('pending_turn.turn_id of the turn being answered.'),
    reply_id: retryKey('reply'),
    text: z
      .string()
      .optional()
      .describe('What the model says. Without tool_calls it ends the run.'),
    tool_calls: z
      .array(
        z.strictObject({
          name: z.string().max(100).describe('Tool name as in pending_turn.tools.'),
          input: z
            .looseObject({})
            .describe("The tool's parameters.")
            .pipe(z.record(z.string(), z.json())),
        }),
      )
      .max(4 * MAX_CALLS_PER_REPLY)
      .optional()
      .describe(
        `Calls to carry out, at most ${MAX_CALLS_PER_REPLY}, changes in the order given. Text and calls: at most 768 KiB.`,
      ),
  }),
  call: (input, service) =>
    service.reply(
      {
        sessionId: input.native_session_id,
        leaseId: input.lease_id,
        turnId: input.turn_id,
        replyId: input.reply_id,
        text: input.text ?? '',
        calls: (input.tool_calls ?? []).map((call) => ({ tool: call.name, input: call.input })),
      },
      WAIT_MS,
    ),
});
