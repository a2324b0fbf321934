import type { Tool } from '@modelcontextprotocol/server';
import * as z from 'zod';

const listedSchema = z.record(z.string(), z.json());

/** The JSON Schema that a client is shown for a tool's arguments. */
export function toInputSchema(input: z.ZodType): Tool['inputSchema'] {
  const { $schema: _dialect, ...schema } = listedSchema.parse(
    z.toJSONSchema(input, { io: 'input' }),
  );
  return { ...schema, type: 'object' };
}
