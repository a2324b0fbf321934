import { expect, test } from 'vitest';
import {
  type Cleanup,
  decideOutcome,
  type Outcome,
  type RunCause,
  type RunExit,
  type RunFacts,
} from '../../../src/delegate/decide-outcome.ts';
import { RESULT_FINDINGS } from '../../../src/delegate/result-evidence.ts';

const CAUSES: readonly (RunCause | null)[] = [
  null,
  { kind: 'cancelled' },
  { kind: 'timed_out' },
  { kind: 'adapter_closing' },
  { kind: 'launch_failed', code: 'claude_not_found', message: 'x' },
  { kind: 'launch_failed', code: 'claude_not_started', message: 'x' },
];
const EXITS: readonly RunExit[] = [
  { kind: 'code', code: 0 },
  { kind: 'code', code: 1 },
  { kind: 'code', code: 143 },
  { kind: 'signal', signal: 'SIGKILL' },
  { kind: 'unknown' },
];
const CLEANUPS: readonly Cleanup[] = ['confirmed', 'unconfirmed'];

const ALL: readonly RunFacts[] = CAUSES.flatMap((cause) =>
  RESULT_FINDINGS.flatMap((finding) =>
    EXITS.flatMap((exit) => CLEANUPS.map((cleanup) => ({ cause, finding, exit, cleanup }))),
  ),
);

/** D13 in words of its own: a second opinion on every combination. */
function expected({ cause, finding, exit, cleanup }: RunFacts): Outcome {
  if (cause !== null) {
    if (cause.kind === 'launch_failed') return { event: 'failed', code: cause.code };
    return { event: cause.kind === 'timed_out' ? 'timed_out' : 'cancelled', code: cause.kind };
  }
  const spoiled = { duplicate: 1, malformed: 1, too_large: 1, truncated: 1 };
  if (finding in spoiled) {
    const code = `result_${finding}`;
    return { event: 'failed', code: code as Outcome['code'] };
  }
  if (finding === 'native_error') return { event: 'failed', code: 'native_error' };
  if (exit.kind === 'unknown') return { event: 'failed', code: 'supervisor_lost' };
  if (exit.kind === 'signal' || exit.code !== 0) return { event: 'failed', code: 'claude_failed' };
  if (finding === 'none') return { event: 'failed', code: 'result_missing' };
  if (cleanup === 'unconfirmed') return { event: 'failed', code: 'cleanup_unconfirmed' };
  return { event: 'succeeded', code: null };
}

test('D13 every combination of cause, result, exit and cleanup has its one outcome', () => {
  expect(ALL).toHaveLength(6 * 7 * 5 * 2);
  for (const facts of ALL)
    expect(decideOutcome(facts), JSON.stringify(facts)).toEqual(expected(facts));
});

test('D13 one combination of all is a success', () => {
  const successes = ALL.filter((facts) => decideOutcome(facts).event === 'succeeded');
  expect(successes).toEqual([
    { cause: null, finding: 'success', exit: { kind: 'code', code: 0 }, cleanup: 'confirmed' },
  ]);
});
