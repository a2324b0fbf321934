import { prepareRun } from '../../delegate/prepare-run.ts';
import { ACTS_FREELY } from '../tool-annotations.ts';
import { RUN_OUTPUT } from './output-schemas.ts';
import { RUN_INPUT_SCHEMA, runInput } from './parameters.ts';
import { toRunAnswer } from './run-result.ts';
import { defineDelegateTool } from './tool.ts';

export const runTool = defineDelegateTool({
  name: 'claude.run',
  description:
    "Hands one task to Claude Code on this computer, with the user's own account and settings, and waits until it has ended and everything that it started has been cleaned up. Claude Code can read, change files and run commands within the permission mode and the user's settings; nothing confines it to working_directory. For a task of more than a minute with a client that ends calls, claude.run.start returns at once and claude.run.result gives the outcome. Each call is a new run: a repetition does the task again. Cancelling the call ends the run. Sends progress when a progress token is given.",
  annotations: ACTS_FREELY,
  risk: 'full-shell',
  continues: false,
  inputSchema: RUN_INPUT_SCHEMA,
  outputSchema: RUN_OUTPUT,
  input: runInput,
  async call(input, { registry, directory, invocation, signal, watch }) {
    const run = registry.start(prepareRun(input, directory, invocation));
    const onAbort = (): void => run.stop({ kind: 'cancelled' });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const watching = watch(run);
    await run.settled;
    watching.stop();
    signal.removeEventListener('abort', onAbort);
    return toRunAnswer(run.view());
  },
});
