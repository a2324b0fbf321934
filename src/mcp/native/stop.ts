import { z } from 'zod';
import { leaseId, MAX_WAIT_MS, retryKey, sessionId } from './parameters.ts';
import { defineNativeTool } from './tool.ts';

export const stopTool = defineNativeTool({
  name: 'native_session_stop',
  title: 'Stop a session',
  description:
    'Ends the processes of a session, abandons its pending turn and keeps conversation, timeline, before-images and every changed file. Use it when the work is done or has to end at once; a run that completed needs no stop to get a next prompt (native_session_continue). A stopped session can be continued later with native_session_continue. Undoes nothing. Refused: a lease that another client has taken over, a reused request_id with another reason.',
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
