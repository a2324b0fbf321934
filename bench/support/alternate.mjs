/**
 * Measures two things in turn, A B A B, so that whatever else the machine does falls on both. The first pair is a
 * warm-up and not counted. `ours` and `baseline` resolve with a figure each.
 */
export async function alternate({ pairs, progress, label, ours, baseline }) {
  const samples = [];
  const baselineSamples = [];
  for (let pair = 0; pair <= pairs; pair += 1) {
    progress.say(`${label}: ${pair === 0 ? 'warm-up' : `pair ${pair} of ${pairs}`}`);
    const figures = [await ours(), await baseline()];
    if (pair === 0) continue;
    samples.push(figures[0]);
    baselineSamples.push(figures[1]);
  }
  return { samples, baseline: baselineSamples };
}
