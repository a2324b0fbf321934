const SLASH = 0x2f;

/**
 * The order in which searches list paths: component by component in byte order, a directory's files where its name
 * would stand. It is the order of ripgrep's `--sort path`. Paths are bytes here, since a name need not be UTF-8.
 */
export function comparePaths(a: Buffer, b: Buffer): number {
  const shorter = Math.min(a.length, b.length);
  let at = 0;
  while (at < shorter && a[at] === b[at]) at += 1;
  return rank(a[at]) - rank(b[at]);
}

/** The end of a path comes first, then the end of a component. */
function rank(byte: number | undefined): number {
  if (byte === undefined) return -2;
  return byte === SLASH ? -1 : byte;
}
