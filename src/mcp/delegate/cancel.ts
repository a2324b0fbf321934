import * as z from 'zod';
import { toInputSchema } from '../to-input-schema.ts';
import { TAKES_AWAY } from '../tool-annotations.ts';
import { RUN_OUTPUT } from './output-schemas.ts';
import { runId } from './parameters.ts';
import { describeRun, toRunResult } from './run-result.ts';
import { defineDelegateTool } from './tool.ts';

const input = z.strictObject({ run_id: runId });

export const cancelTool = defineDelegateTool({
  name: 'claude.run.cancel',
  description:
    'Ends a run and everything that it started, and returns at once; claude.run.result tells when that is done. Files that were changed stay changed, and what was saved of the conversation stays. Of no effect on a run that is over. To forget a run that is over, there is claude.run.release.',
  annotations: TAKES_AWAY,
  risk: 'destructive',
  continues: true,
  inputSchema: toInputSchema(input),
  outputSchema: RUN_OUTPUT,
  input,
  call({ run_id: id }, { registry }) {
    const run = registry.find(id);
    run.stop({ kind: 'cancelled' });
    const view = run.view();
    return { result: toRunResult(view), isError: false, line: describeRun(view) };
  },
});
