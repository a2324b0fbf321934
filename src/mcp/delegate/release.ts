import * as z from 'zod';
import { toInputSchema } from '../to-input-schema.ts';
import { TAKES_AWAY } from '../tool-annotations.ts';
import { RELEASE_OUTPUT } from './output-schemas.ts';
import { runId } from './parameters.ts';
import { defineDelegateTool } from './tool.ts';

const input = z.strictObject({ run_id: runId });

export const releaseTool = defineDelegateTool({
  name: 'claude.run.release',
  description:
    'Forgets a run that is over: its result and events. A saved conversation stays; session_id is needed to resume it. Refused with run_active while the run is under way (claude.run.cancel ends it) and with cleanup_unconfirmed, until the connection ends, where something of it may still be running.',
  annotations: TAKES_AWAY,
  risk: 'destructive',
  continues: true,
  inputSchema: toInputSchema(input),
  outputSchema: RELEASE_OUTPUT,
  input,
  call({ run_id: id }, { registry }) {
    registry.release(id);
    const result = { run_id: id, released: true };
    return { result, isError: false, line: `Run ${id} is released.` };
  },
});
