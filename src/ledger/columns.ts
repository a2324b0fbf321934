import * as z from 'zod';
import { parseJson } from '../base/parse-json.ts';

/** A column that holds a JSON text of the given shape. */
export function jsonColumn<Value>(schema: z.ZodType<Value>): z.ZodType<Value> {
  return z
    .string()
    .transform((text, context): unknown => {
      const value = parseJson(text);
      if (value === undefined) context.addIssue('not JSON');
      return value;
    })
    .pipe(schema);
}

/** An ISO 8601 instant in UTC, as `Date.toISOString` writes it. */
export const instantColumn: z.ZodType<string> = z.iso.datetime();
