import * as z from 'zod';
import { leaseId, MAX_WAIT_MS, retryKey, sessionId } from './parameters.ts';
import { defineNativeTool } from './tool.ts';

export const stopTool = defineNativeTool({
  name: 'native_session_stop',
  description:
    'Ends the processes of a session and abandons its pending turn; conversation, timeline and every changed file stay, nothing is undone. For work that is done or has to end at once. A completed run needs no stop before its next prompt, and a stopped session can go on with native_session_continue.',
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  input: z.strictObject({
    native_session_id: sessionId,
    lease_id: leaseId,
    request_id: retryKey('stop request'),
    reason: z.string().max(1_000).optional().describe('Why, for the timeline.'),
  }),
  call: (input, service) =>
    service.stop(
      {
        sessionId: input.native_session_id,
        leaseId: input.lease_id,
        requestId: input.request_id,
        reason: input.reason ?? null,
      },
      MAX_WAIT_MS,
    ),
});
