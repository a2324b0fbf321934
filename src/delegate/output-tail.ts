/** As much of the error output as an error message quotes, in bytes. */
const MAX_TAIL_BYTES = 600;

/** The end of what was printed. */
export interface OutputTail {
  write(chunk: Buffer): void;
  text(): string;
}

export function createOutputTail(): OutputTail {
  let tail: Buffer = Buffer.alloc(0);
  return {
    write(chunk) {
      tail = Buffer.concat([tail, chunk.subarray(-MAX_TAIL_BYTES)]).subarray(-MAX_TAIL_BYTES);
    },
    // Where the cut went through a character, its rest is left out.
    text: () =>
      tail
        .toString('utf8')
        .replace(/^\uFFFD+/, '')
        .trim(),
  };
}
