/** No event of Claude Code's is nested nearly as deep; what is passed on is walked by recursion elsewhere. */
const MAX_DEPTH = 200;

/** Whether a parsed value can be passed on as JSON: not nested too deep, and without numbers that have overflowed. */
export function isUsable(value: unknown, depth = MAX_DEPTH): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (value === null || typeof value !== 'object') return true;
  return depth > 0 && Object.values(value).every((item) => isUsable(item, depth - 1));
}
