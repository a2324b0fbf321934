import { z } from 'zod';
import { leaseId, sessionId, toWaitMs, waitSeconds } from './parameters.ts';
import { defineNativeTool } from './tool.ts';

export const statusTool = defineNativeTool({
  name: 'native_session_status',
  title: 'Look at a session',
  description:
    'Shows the state of a session, with its pending turn and last result, and with wait_seconds waits until the session needs its client. Asks no model, advances nothing, changes no file; an accepted call only extends the lease. Use it after a call that came back as starting or running. It gives no answer to a turn (native_session_reply_and_wait), no prompt (native_session_continue) and no new lease (native_session_recover). Refused: a lease that another client has taken over.',
  annotations: {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
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
