import type { Clock } from '../base/clock.ts';

/** How often the clock is looked at: a timer alone would sleep through a suspended computer. Milliseconds. */
const LOOK_MS = 15_000;

/** Calls `onPassed` once when the time that `readDeadline` names has passed. Returns a function that stops it. */
export function watchDeadline(
  clock: Clock,
  readDeadline: () => string,
  onPassed: () => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const remaining = Date.parse(readDeadline()) - clock().getTime();
    if (remaining <= 0) onPassed();
    else timer = setTimeout(look, Math.min(remaining, LOOK_MS));
  };
  look();
  return () => clearTimeout(timer);
}
