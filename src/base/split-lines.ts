/**
 * Takes chunks of bytes as they come and hands over each whole line, without the byte that ends it. A line that is
 * longer than `maxBytes` is dropped, and nothing of it is held meanwhile.
 */
export function splitLines(
  maxBytes: number,
  onLine: (line: string) => void,
): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let size = 0;
  return (chunk) => {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      parts.push(rest.subarray(0, end));
      if (size + end <= maxBytes) onLine(Buffer.concat(parts).toString('utf8'));
      parts = [];
      size = 0;
      rest = rest.subarray(end + 1);
    }
    size += rest.length;
    if (size <= maxBytes) parts.push(rest);
    else parts = [];
  };
}
