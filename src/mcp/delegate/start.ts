import { prepareRun } from '../../delegate/prepare-run.ts';
import { ACTS_FREELY } from '../tool-annotations.ts';
import { RUN_OUTPUT } from './output-schemas.ts';
import { RUN_INPUT_SCHEMA, runInput } from './parameters.ts';
import { toRunAnswer } from './run-result.ts';
import { defineDelegateTool } from './tool.ts';

export const startTool = defineDelegateTool({
  name: 'claude.run.start',
  description:
    'Hands one task to Claude Code like claude.run, with the same arguments and effects, and returns a run_id at once. claude.run.result gives the outcome, claude.run.events what happens meanwhile, claude.run.cancel ends it. At most 4 runs are under way at a time. Each call is a new run: after an answer that was lost, claude.run.list shows whether it has started.',
  annotations: ACTS_FREELY,
  risk: 'full-shell',
  continues: false,
  inputSchema: RUN_INPUT_SCHEMA,
  outputSchema: RUN_OUTPUT,
  input: runInput,
  call(input, { registry, directory, invocation }) {
    return toRunAnswer(registry.start(prepareRun(input, directory, invocation)).view());
  },
});
