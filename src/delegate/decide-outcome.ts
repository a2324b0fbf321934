import type { LaunchErrorCode, RequestErrorCode } from '../base/reins-error.ts';
import type { DelegatedRunEvent } from './delegated-run-machine.ts';
import type { ResultFinding } from './result-evidence.ts';

/** Why a run was ended, or never came to run. The first cause is the only one. */
export type RunCause =
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'adapter_closing' }
  | { readonly kind: 'launch_failed'; readonly code: LaunchFailureCode; readonly message: string };

export type LaunchFailureCode =
  | Extract<
      LaunchErrorCode,
      'claude_not_found' | 'claude_version_unsupported' | 'claude_not_executable'
    >
  | Extract<RequestErrorCode, 'internal'>
  | 'claude_not_started';

export type RunExit =
  | { readonly kind: 'code'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: string }
  /** Nobody saw it. */
  | { readonly kind: 'unknown' };

export type Cleanup = 'confirmed' | 'unconfirmed';

export type OutcomeCode =
  | Exclude<RunCause['kind'], 'launch_failed'>
  | LaunchFailureCode
  | 'result_missing'
  | 'result_malformed'
  | 'result_duplicate'
  | 'result_too_large'
  | 'result_truncated'
  | 'native_error'
  | 'claude_failed'
  | 'supervisor_lost'
  | 'cleanup_unconfirmed';

export interface RunFacts {
  readonly cause: RunCause | null;
  readonly finding: ResultFinding;
  readonly exit: RunExit;
  readonly cleanup: Cleanup;
}

export interface Outcome {
  readonly event: Exclude<DelegatedRunEvent, 'claude_started'>;
  /** Null for success alone. */
  readonly code: OutcomeCode | null;
}

type Row = readonly [
  applies: (facts: RunFacts) => boolean,
  outcome: Outcome['event'],
  code: OutcomeCode | null,
];

const ended = (kind: RunCause['kind']) => (facts: RunFacts) => facts.cause?.kind === kind;
const found = (finding: ResultFinding) => (facts: RunFacts) => facts.finding === finding;
const exitUnseen = ({ exit }: RunFacts): boolean => exit.kind === 'unknown';
const exitedBadly = ({ exit }: RunFacts): boolean => exit.kind !== 'code' || exit.code !== 0;
const isUnconfirmed = ({ cleanup }: RunFacts): boolean => cleanup === 'unconfirmed';

/**
 * D13, from the top: the first row that applies is the outcome. Why a run was ended comes before what it printed; what
 * it printed before how it exited; and only the last row, which everything has to get past, is a success.
 */
const OUTCOMES: readonly Row[] = [
  [ended('timed_out'), 'timed_out', 'timed_out'],
  [ended('cancelled'), 'cancelled', 'cancelled'],
  [ended('adapter_closing'), 'cancelled', 'adapter_closing'],
  [found('duplicate'), 'failed', 'result_duplicate'],
  [found('malformed'), 'failed', 'result_malformed'],
  [found('too_large'), 'failed', 'result_too_large'],
  [found('truncated'), 'failed', 'result_truncated'],
  [found('native_error'), 'failed', 'native_error'],
  [exitUnseen, 'failed', 'supervisor_lost'],
  [exitedBadly, 'failed', 'claude_failed'],
  [found('none'), 'failed', 'result_missing'],
  [isUnconfirmed, 'failed', 'cleanup_unconfirmed'],
  [found('success'), 'succeeded', null],
];

/** What became of a run. Pure: everything that it depends on is in the facts. */
export function decideOutcome(facts: RunFacts): Outcome {
  if (facts.cause?.kind === 'launch_failed') return { event: 'failed', code: facts.cause.code };
  const row = OUTCOMES.find(([applies]) => applies(facts));
  return row === undefined
    ? { event: 'failed', code: 'internal' }
    : { event: row[1], code: row[2] };
}
