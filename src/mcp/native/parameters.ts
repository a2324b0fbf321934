import * as z from 'zod';

/** Longest prompt, in UTF-16 units: a task with its material, not a data set. */
const MAX_PROMPT_LENGTH = 256 * 1024;
const MAX_KEY_LENGTH = 200;
/** Clients such as ChatGPT end a call at about 60 s; N9 allows 50, and the answer itself needs a moment. */
export const MAX_WAIT_MS = 47_000;

/** Ids are short; a limit in words of the schema would only cost every client context. */
export function id(): z.ZodString {
  return z.string().refine((value) => value.length <= MAX_KEY_LENGTH, 'is too long');
}

const text = (max: number): z.ZodString => z.string().max(max);

export const sessionId = id().describe('From native_session_start.');
export const leaseId = id().describe('From start or the latest recover.');
export const prompt = (what: string): z.ZodType<string> =>
  text(MAX_PROMPT_LENGTH)
    .refine((value) => value.trim() !== '', 'is empty')
    .refine((value) => value.isWellFormed(), 'has half of a surrogate pair')
    .describe(what);

/** A key of the caller's choice: the same key with the same input gives the stored outcome and does nothing twice. */
export const retryKey = (of: string): z.ZodType<string> =>
  text(MAX_KEY_LENGTH)
    .refine((key) => key !== '' && !key.includes('\0'), 'is empty or has a zero byte')
    .describe(
      `Caller's id for this ${of}: the same input again acts once, other input is refused.`,
    );

export const waitSeconds = (forWhat: string, byDefault: number): z.ZodType<number | undefined> =>
  z
    .number()
    .min(0)
    .max(50)
    .optional()
    .describe(`Seconds to wait for ${forWhat}. Default ${byDefault}.`);

export function toWaitMs(seconds: number | undefined, byDefault: number): number {
  return Math.min((seconds ?? byDefault) * 1000, MAX_WAIT_MS);
}
