import type { Clock } from '../base/clock.ts';

/** How often the clock is looked at: a timer alone would sleep through a suspended computer. Milliseconds. */
const LOOK_MS = 15_000;

/** Calls `onExpired` once when the time that `readExpiry` names has passed. Returns a function that stops it. */
export function watchLease(
  clock: Clock,
  readExpiry: () => string,
  onExpired: () => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const remaining = Date.parse(readExpiry()) - clock().getTime();
    if (remaining <= 0) onExpired();
    else timer = setTimeout(look, Math.min(remaining, LOOK_MS));
  };
  look();
  return () => clearTimeout(timer);
}
