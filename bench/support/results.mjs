import { median, summarise } from './statistics.mjs';

/** Ours against a baseline of the same run: the goal is a ratio of the medians of at most `limit`, or there is none. */
export function ratioResult({ measurement, unit, samples, baseline, limit = null, note = null }) {
  const value = median(samples) / median(baseline);
  return toResult({
    measurement,
    unit,
    samples,
    baseline,
    comparison: { kind: 'ratio', value },
    goal: limit === null ? null : { compares: 'ratio', limit },
    met: limit === null ? null : value <= limit,
    note,
  });
}

/** Ours against a baseline of the same run: the goal is at most `limit` more in the median. */
export function differenceResult({ measurement, unit, samples, baseline, limit, note = null }) {
  const value = median(samples) - median(baseline);
  return toResult({
    measurement,
    unit,
    samples,
    baseline,
    comparison: { kind: 'difference', value },
    goal: { compares: 'difference', limit },
    met: value <= limit,
    note,
  });
}

/** A figure that stands by itself, with a limit for its median or without a goal. */
export function plainResult({ measurement, unit, samples, limit = null, note = null }) {
  return toResult({
    measurement,
    unit,
    samples,
    baseline: null,
    comparison: null,
    goal: limit === null ? null : { compares: 'median', limit },
    met: limit === null ? null : median(samples) <= limit,
    note,
  });
}

function toResult({ samples, baseline, ...rest }) {
  return {
    ...rest,
    ...summarise(samples),
    baseline: baseline === null ? null : summarise(baseline),
  };
}
