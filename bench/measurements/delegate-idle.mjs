import { connectDelegate } from '../support/gateway.mjs';
import { residentMegabytes } from '../support/processes.mjs';
import { plainResult } from '../support/results.mjs';
import { startToTools } from '../support/start-to-tools.mjs';
import { withWorkspace } from '../support/workspace.mjs';

/** Spawn of `reins delegate` until tools/list is answered, and its resident memory before its first run. */
export function measureDelegateIdle({ runs, progress }) {
  return withWorkspace(async (workspace) => {
    const times = [];
    const sizes = [];
    for (let run = 0; run <= runs; run += 1) {
      progress.say(`delegate, idle: ${run === 0 ? 'warm-up' : `run ${run} of ${runs}`}`);
      const { ms } = await startToTools({ workspace, command: 'delegate', tools: 7 });
      const megabytes = await measureMemory(workspace);
      if (run === 0) continue;
      times.push(ms);
      sizes.push(megabytes);
    }
    return [
      plainResult({
        measurement: 'delegate: start to tools/list',
        unit: 'ms',
        samples: times,
        limit: 300,
      }),
      plainResult({ measurement: 'delegate: idle memory', unit: 'MB', samples: sizes, limit: 70 }),
    ];
  });
}

async function measureMemory(workspace) {
  const delegate = await connectDelegate(workspace);
  try {
    await delegate.client.listTools();
    return residentMegabytes(delegate.pid);
  } finally {
    await delegate.close();
  }
}
