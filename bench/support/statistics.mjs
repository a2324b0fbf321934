/** Median of at least one number. */
export function median(values) {
  const ordered = [...values].sort((a, b) => a - b);
  const middle = Math.floor(ordered.length / 2);
  return ordered.length % 2 === 1 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2;
}

/** What a table shows of a series: `{ median, min, max, count }`. */
export function summarise(values) {
  if (values.length === 0) throw new Error('nothing was measured');
  return {
    median: median(values),
    min: Math.min(...values),
    max: Math.max(...values),
    count: values.length,
  };
}
