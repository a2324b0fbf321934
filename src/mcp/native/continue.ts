import * as z from 'zod';
import { leaseId, prompt, retryKey, sessionId, toWaitMs, waitSeconds } from './parameters.ts';
import { defineNativeTool } from './tool.ts';

const WAIT_SECONDS = 30;

export const continueTool = defineNativeTool({
  name: 'native_session_continue',
  description:
    'Gives a session its next prompt after a run has ended (completed, failed, stopped) and returns the pending turn: same conversation, profile and directory. A pending turn is answered with native_session_reply_and_wait instead; another directory or task takes native_session_start; a lost or expired lease native_session_recover first. Starts Claude Code again if it is gone; changes no file itself. Refused while a run is under way.',
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  input: z.strictObject({
    native_session_id: sessionId,
    lease_id: leaseId,
    prompt: prompt('The next task or message in the same conversation.'),
    idempotency_key: retryKey('prompt'),
    wait_seconds: waitSeconds('the next pending turn', WAIT_SECONDS),
  }),
  call: (input, service) =>
    service.continue(
      {
        sessionId: input.native_session_id,
        leaseId: input.lease_id,
        prompt: input.prompt,
        idempotencyKey: input.idempotency_key,
      },
      toWaitMs(input.wait_seconds, WAIT_SECONDS),
    ),
});
