import { z } from 'zod';
import { retryKey, sessionId, toWaitMs, waitSeconds } from './parameters.ts';
import { defineNativeTool } from './tool.ts';

export const recoverTool = defineNativeTool({
  name: 'native_session_recover',
  title: 'Take a session over with its recovery token',
  description:
    'Reconnects to an existing session with its recovery token: gives a new lease, ends the old one at once, verifies the process that runs the session and shows the pending turn in full (task, rules, tools). For a new conversation that takes a session over, a lost or expired lease, or after a restart of the gateway. With a lease that works, native_session_status shows the state without rotating anything; a new prompt goes through native_session_continue. Runs no action and repeats none; if the process is gone that is said, and native_session_continue resumes the saved conversation. Refused: a wrong token, or a recovery_id whose lease was rotated since.',
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  input: z.strictObject({
    native_session_id: sessionId,
    recovery_token: z
      .string()
      .min(1)
      .max(128)
      .describe('Token that native_session_start returned with the session.'),
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
