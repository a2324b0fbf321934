import * as z from 'zod';
import { toInputSchema } from '../to-input-schema.ts';
import { READ_ONLY } from '../tool-annotations.ts';
import { LIST_OUTPUT } from './output-schemas.ts';
import { toRunSummary } from './run-result.ts';
import { defineDelegateTool } from './tool.ts';

const input = z.strictObject({});

export const listTool = defineDelegateTool({
  name: 'claude.run.list',
  description:
    "Lists the runs that this connection holds, oldest first, without their results: those under way and up to 32 in all. A single run's outcome is in claude.run.result. Changes nothing.",
  annotations: READ_ONLY,
  risk: 'read-only',
  continues: false,
  inputSchema: toInputSchema(input),
  outputSchema: LIST_OUTPUT,
  input,
  call(_input, { registry }) {
    const runs = registry.list().map((run) => toRunSummary(run.view()));
    return { result: { runs }, isError: false, line: `${runs.length} runs are held.` };
  },
});
