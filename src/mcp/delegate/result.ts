import * as z from 'zod';
import { withinTime } from '../../base/within-time.ts';
import { toInputSchema } from '../to-input-schema.ts';
import { READ_ONLY } from '../tool-annotations.ts';
import { RUN_OUTPUT } from './output-schemas.ts';
import { runId } from './parameters.ts';
import { toRunAnswer } from './run-result.ts';
import { defineDelegateTool } from './tool.ts';

/** Clients such as ChatGPT end a call at about 60 s. */
const MAX_WAIT_SECONDS = 50;

const input = z.strictObject({
  run_id: runId,
  wait_seconds: z
    .number()
    .min(0)
    .max(MAX_WAIT_SECONDS)
    .optional()
    .describe('Seconds to wait for the end of the run. Default 0.'),
});

export const resultTool = defineDelegateTool({
  name: 'claude.run.result',
  description:
    'Shows how a run stands, after waiting for its end if asked to. completed says that it is over, not that it succeeded: is_error, error and state say how. final_event holds the native result with the answer, cost and denied permissions; session_id is what resume_session_id of a later run takes. Steps on the way are in claude.run.events. Repeats and releases nothing.',
  annotations: READ_ONLY,
  risk: 'read-only',
  continues: true,
  inputSchema: toInputSchema(input),
  outputSchema: RUN_OUTPUT,
  input,
  async call({ run_id: id, wait_seconds: wait }, { registry, signal, watch }) {
    const run = registry.find(id);
    if (wait !== undefined && wait > 0) {
      const watching = watch(run);
      const cancelled = new Promise((resolve) => signal.addEventListener('abort', resolve));
      await withinTime(Promise.race([run.settled, cancelled]), wait * 1000);
      watching.stop();
    }
    return toRunAnswer(run.view());
  },
});
