/** The largest growth of memory held by buffers while `work` runs, in bytes. Collectable garbage counts. */
export async function peakBufferBytes(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage().arrayBuffers;
  let peak = 0;
  const sample = (): void => {
    peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
  };
  const timer = setInterval(sample, 1);
  try {
    await work();
    sample();
  } finally {
    clearInterval(timer);
  }
  return peak;
}
