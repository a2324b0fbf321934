// Does one thing to the file system, over and over, until it is told to stop; then reports what it saw.
import { appendFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const { deed, flag, path } = workerData;
const stopped = () => Atomics.load(flag, 0) !== 0;
const report = { rounds: 0, missing: 0, sizes: [] };

/** Moves `from` to `to`, unless a tool has made a directory there in the moment when there was nothing. */
const settle = (from, to) => {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!['EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
    return false;
  }
};

const deeds = {
  /** Lets `other` stand at `path` for a moment, again and again. */
  swap() {
    const aside = `${path}.aside`;
    renameSync(path, aside);
    if (settle(workerData.other, path)) renameSync(path, workerData.other);
    while (!settle(aside, path)) renameSync(path, `${path}.made-${report.rounds}`);
  },
  append() {
    appendFileSync(path, workerData.text);
  },
  /** Rewrites the file in place, each time with other content. */
  rewrite() {
    writeFileSync(path, workerData.text + report.rounds);
  },
  /** Notes every size that the file is seen with. */
  watch() {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) report.missing += 1;
    else if (!report.sizes.includes(stat.size)) report.sizes.push(stat.size);
  },
};

parentPort.postMessage('ready');
while (!stopped()) {
  deeds[deed]();
  report.rounds += 1;
}
parentPort.postMessage(report);
