import * as z from 'zod';
import { READ_ONLY } from '../tool-annotations.ts';
import { leaseId, sessionId, toWaitMs, waitSeconds } from './parameters.ts';
import { defineNativeTool } from './tool.ts';

export const statusTool = defineNativeTool({
  name: 'native_session_status',
  description:
    'Shows the state of a session with its pending turn and last result; wait_seconds waits until the session needs its client. Asks no model and advances nothing; it only extends the lease. For a call that came back as starting or running. Turns are answered with native_session_reply_and_wait, prompts given with native_session_continue, new leases with native_session_recover.',
  annotations: READ_ONLY,
  input: z.strictObject({
    native_session_id: sessionId,
    lease_id: leaseId,
    wait_seconds: waitSeconds('a state that needs the client', 0),
  }),
  call: (input, service) =>
    service.status(
      { sessionId: input.native_session_id, leaseId: input.lease_id },
      toWaitMs(input.wait_seconds, 0),
    ),
});
