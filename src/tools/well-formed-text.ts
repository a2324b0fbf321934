import * as z from 'zod';

/** A string that UTF-8 can carry: half of a surrogate pair would silently become another character on disk. */
export const wellFormedText = z
  .string()
  .refine((text) => text.isWellFormed(), 'has half of a surrogate pair, which UTF-8 cannot carry');
