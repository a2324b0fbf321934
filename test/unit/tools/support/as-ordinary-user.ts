/** `nobody` on Linux and macOS alike has rights to nothing that the tests make 0600 or 0700. */
const NOBODY = 65_534;

/**
 * Runs `work` without the rights of root, so that the operating system denies what it denies to everybody. A test run
 * of an ordinary user is one already.
 */
export async function asOrdinaryUser<Result>(work: () => Promise<Result>): Promise<Result> {
  if (process.getuid?.() !== 0) return work();
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
