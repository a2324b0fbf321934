/** How long stderr may stay silent, in milliseconds. */
const SILENCE_MS = 800;

/** Says on stderr what is being done, and repeats it while that takes long. */
export function createProgress() {
  const startedAt = performance.now();
  let doing = 'starting';
  let since = startedAt;
  let printedAt = startedAt;
  const print = (text) => {
    printedAt = performance.now();
    process.stderr.write(`${((printedAt - startedAt) / 1000).toFixed(1).padStart(6)} s  ${text}\n`);
  };
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - printedAt < SILENCE_MS) return;
    print(`${doing} (for ${((now - since) / 1000).toFixed(1)} s)`);
  }, 100);
  return {
    say(text) {
      doing = text;
      since = performance.now();
      print(text);
    },
    end: () => clearInterval(timer),
  };
}
