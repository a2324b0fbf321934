import * as z from 'zod';
import type { Json } from './canonical-json.ts';

export type { Json } from './canonical-json.ts';

/** Accepts any value that came out of JSON.parse. */
export const jsonSchema: z.ZodType<Json> = z.json();

/** JSON.parse as a total function: `undefined` stands for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
