import * as z from 'zod';
import { isRunnerId, type RunnerId } from '../base/ids.ts';

/** Raised with every change that an older peer would misread. A gateway refuses a runner of another version. */
export const WIRE_VERSION = 1;

/**
 * Longest line on the socket. A reply may carry 768 KiB, and JSON writes a control character in six bytes, so this
 * is above six times that.
 */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;

/** First message of a gateway. */
export const helloSchema = z.strictObject({
  wire_version: z.number().int(),
  runner_id: z.custom<RunnerId>(isRunnerId),
  token: z.string().max(128),
});

/** A runner's answer to a hello that it accepts. It closes the connection without a word otherwise. */
export const welcomeSchema = z.strictObject({
  wire_version: z.literal(WIRE_VERSION),
  pid: z.number().int().positive(),
  birth: z.string().max(256),
  proof: z.string().max(128),
});
export type Welcome = z.infer<typeof welcomeSchema>;

const id = z.number().int().nonnegative();

export const requestSchema = z.discriminatedUnion('method', [
  z.strictObject({
    id,
    method: z.literal('reply'),
    lease_id: z.string(),
    turn_id: z.string(),
    reply_id: z.string(),
    text: z.string(),
    calls: z.array(z.strictObject({ tool: z.string(), input: z.record(z.string(), z.json()) })),
  }),
  z.strictObject({
    id,
    method: z.literal('continue'),
    lease_id: z.string(),
    prompt: z.string(),
    idempotency_key: z.string(),
  }),
  z.strictObject({
    id,
    method: z.literal('stop'),
    lease_id: z.string(),
    request_id: z.string(),
    reason: z.string().nullable(),
  }),
  /** Answered when the session needs its client again, when its lease changes hands, or after the time given. */
  z.strictObject({
    id,
    method: z.literal('wait'),
    lease_id: z.string(),
    timeout_ms: z.number().int().nonnegative(),
  }),
  /** The gateway changed the session in the ledger; those who wait must look again. */
  z.strictObject({ id, method: z.literal('refresh') }),
]);
export type WireRequest = z.infer<typeof requestSchema>;

export const responseSchema = z.union([
  z.strictObject({ id, ok: z.strictObject({ replay: z.boolean() }) }),
  z.strictObject({ id, error: z.strictObject({ code: z.string(), message: z.string() }) }),
]);
