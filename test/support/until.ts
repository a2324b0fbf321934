import { setTimeout as sleep } from 'node:timers/promises';

/** Looks until there is something, and returns it. Throws when it does not come about within `timeoutMs`. */
export async function until<Value>(
  look: () => Value | undefined | false,
  timeoutMs = 10_000,
): Promise<Value> {
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += 10) {
    const value = look();
    if (value !== undefined && value !== false) return value;
    await sleep(10);
  }
  throw new Error('it did not come about');
}
