import { plainResult } from '../support/results.mjs';
import { startToTools } from '../support/start-to-tools.mjs';
import { withWorkspace } from '../support/workspace.mjs';

/** Spawn of `reins stdio` until tools/list is answered, and the size of that answer. */
export function measureGatewayStart({ runs, progress }) {
  return withWorkspace(async (workspace) => {
    const times = [];
    const sizes = [];
    for (let run = 0; run <= runs; run += 1) {
      progress.say(`gateway start: ${run === 0 ? 'warm-up' : `run ${run} of ${runs}`}`);
      const { ms, bytes } = await startToTools({ workspace, command: 'stdio', tools: 6 });
      if (run === 0) continue;
      times.push(ms);
      sizes.push(bytes);
    }
    return [
      plainResult({
        measurement: 'gateway start to tools/list',
        unit: 'ms',
        samples: times,
        limit: 300,
      }),
      plainResult({
        measurement: 'size of tools/list',
        unit: 'bytes',
        samples: sizes,
        limit: 16_384,
      }),
    ];
  });
}
