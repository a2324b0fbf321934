import { ReinsError } from '../base/reins-error.ts';

/** The error of whoever cannot confine. `what` says what is missing and how to get it. */
export function unavailable(what: string): ReinsError {
  return new ReinsError(
    'confinement_unavailable',
    `Nothing is run without confinement, and ${what}; "reins doctor" shows what is missing.`,
  );
}
