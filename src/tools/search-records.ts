const SEPARATOR = Buffer.from('--');
const LINE_FEED = Buffer.from('\n');

/** One result of ripgrep under `--null`: a path, a zero byte, and what is said of it. */
export interface SearchRecord {
  readonly path: Buffer;
  readonly rest: Buffer;
}

/**
 * Puts results together that a line feed within a file name has split: each has a zero byte between name and rest,
 * and only the first one counts. Separators between groups of lines have none and come alone.
 */
export function joinRecords(
  onRecord: (record: SearchRecord) => boolean,
): (part: Buffer) => boolean {
  let carry: Buffer[] = [];
  return (part) => {
    if (carry.length === 0 && part.equals(SEPARATOR)) return true;
    const zero = part.indexOf(0);
    if (zero < 0) {
      carry.push(Buffer.from(part), LINE_FEED);
      return true;
    }
    const path = Buffer.concat([...carry, part.subarray(0, zero)]);
    carry = [];
    return onRecord({ path, rest: part.subarray(zero + 1) });
  };
}
