/** Lets callers wait until something that they can look up has become true. */
export class ChangeSignal {
  readonly #checks = new Set<() => void>();

  /** Something may have changed: everybody who waits looks again. */
  notify(): void {
    for (const check of [...this.#checks]) check();
  }

  /** Resolves as soon as `condition` holds, now or after a notification, and after `timeoutMs` in any case. */
  until(condition: () => boolean, timeoutMs: number): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#checks.delete(check);
        resolve();
      };
      const check = (): void => {
        if (condition()) finish();
      };
      const timer = setTimeout(finish, timeoutMs);
      this.#checks.add(check);
    });
  }
}
