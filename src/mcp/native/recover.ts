import * as z from 'zod';
import { retryKey, sessionId, toWaitMs, waitSeconds } from './parameters.ts';
import { defineNativeTool } from './tool.ts';

export const recoverTool = defineNativeTool({
  name: 'native_session_recover',
  description:
    'Takes a session over with its recovery token: gives a new lease, ends the old one at once and shows the pending turn in full (task, rules, tools). For a new conversation, or a lost or expired lease. With a working lease native_session_status shows the state without rotating it. Repeats no action; if the process is gone that is said, and native_session_continue resumes the saved conversation.',
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  input: z.strictObject({
    native_session_id: sessionId,
    recovery_token: z.string().describe('From native_session_start.'),
    recovery_id: retryKey('recovery'),
    wait_seconds: waitSeconds('a pending turn or another settled state', 0),
  }),
  call: (input, service) =>
    service.recover(
      {
        sessionId: input.native_session_id,
        recoveryToken: input.recovery_token,
        recoveryId: input.recovery_id,
      },
      toWaitMs(input.wait_seconds, 0),
    ),
});
