import * as z from 'zod';
import type { Frame, NativeEvent } from './frame-reader.ts';

/** D12: a final event above this is not kept, and the run fails. Bytes of its JSON. */
export const MAX_FINAL_EVENT_BYTES = 128 * 1024;

const finalEventSchema = z.looseObject({
  type: z.literal('result'),
  subtype: z.string().min(1),
  is_error: z.boolean(),
  session_id: z.string().min(1),
  result: z.string().nullish(),
});

/** A native result event, with the fields that Reins does not know as well. */
export type FinalEvent = z.infer<typeof finalEventSchema>;

/** What the stream says of the run's result. */
export const RESULT_FINDINGS = [
  'none',
  'success',
  'native_error',
  'malformed',
  'duplicate',
  'too_large',
  'truncated',
] as const;
export type ResultFinding = (typeof RESULT_FINDINGS)[number];

export interface ResultEvidence {
  readonly finding: ResultFinding;
  /** The first valid one, whatever came after it. */
  readonly finalEvent: FinalEvent | null;
}

export const NO_RESULT: ResultEvidence = { finding: 'none', finalEvent: null };

/** Takes one more frame into account. The first thing that is wrong with the result stays what is said of it. */
export function weighFrame(evidence: ResultEvidence, frame: Frame): ResultEvidence {
  switch (frame.kind) {
    case 'noise':
      // Half a result beside a whole one: which of them is meant cannot be told.
      return frame.type === 'result' ? spoil(evidence, 'malformed') : evidence;
    case 'truncated':
      return spoil(evidence, 'truncated');
    case 'unfit':
      // Whether it was a result cannot be ruled out unless its type is known.
      return frame.type === undefined || frame.type === 'result'
        ? spoil(evidence, frame.why === 'too_long' ? 'too_large' : 'malformed')
        : evidence;
    case 'event':
      return frame.event['type'] === 'result'
        ? weighResult(evidence, frame.event, Buffer.byteLength(frame.text))
        : evidence;
  }
}

function weighResult(evidence: ResultEvidence, event: NativeEvent, bytes: number): ResultEvidence {
  const parsed = finalEventSchema.safeParse(event);
  const kept = parsed.success && bytes <= MAX_FINAL_EVENT_BYTES ? parsed.data : null;
  const finalEvent = evidence.finalEvent ?? kept;
  if (evidence.finding !== 'none') return spoil({ ...evidence, finalEvent }, 'duplicate');
  if (bytes > MAX_FINAL_EVENT_BYTES) return { finding: 'too_large', finalEvent };
  return { finding: kept === null ? 'malformed' : judge(kept), finalEvent };
}

function judge(event: FinalEvent): ResultFinding {
  if (event.is_error || event.subtype !== 'success') return 'native_error';
  return typeof event.result === 'string' ? 'success' : 'malformed';
}

function spoil(evidence: ResultEvidence, finding: ResultFinding): ResultEvidence {
  const intact = ['none', 'success', 'native_error'].includes(evidence.finding);
  return intact ? { ...evidence, finding } : evidence;
}
