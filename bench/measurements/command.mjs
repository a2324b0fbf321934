import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { alternate } from '../support/alternate.mjs';
import { loadProduct } from '../support/load-product.mjs';
import { differenceResult } from '../support/results.mjs';
import { withWorkspace } from '../support/workspace.mjs';

/** Runs of one figure: a single one takes milliseconds. */
const RUNS_PER_FIGURE = 20;

/** RunCommand of `true`, called directly, against starting `true` without any confinement. */
export function measureCommand({ runs, progress }) {
  return withWorkspace(async (workspace) => {
    const product = await loadProduct(workspace);
    const { HOME: home, REINS_STATE_DIR: state } = workspace.env;
    const tool = product.toolsFor('read_only').find(({ name }) => name === 'RunCommand');
    const protection = product.createPathProtection(home, state, process.platform, {
      closed: [],
      opened: [],
    });
    const settings = {
      home,
      searchPath: '/usr/bin:/bin',
      toolLocations: {},
      stageRoot: join(state, 'commands'),
      furtherDirectories: [],
      confinement: product.openConfinement(process.platform),
    };
    const context = {
      workingDirectory: workspace.project,
      writeRoot: null,
      protection,
      commands: product.createCommandRuntime(settings, protection),
      lastSeen: () => undefined,
    };
    const { signal } = new AbortController();
    const ours = () =>
      mean(async () => {
        const { text } = await tool.execute({ argv: ['true'] }, context, signal);
        if (!text.startsWith('Exit code 0')) throw new Error(text);
      });
    const plain = () =>
      mean(
        () =>
          new Promise((resolve, reject) => {
            const child = spawn('/usr/bin/true', [], {
              env: {},
              stdio: ['ignore', 'pipe', 'pipe'],
            });
            child.once('error', reject);
            child.once('close', resolve);
          }),
      );
    const label = 'RunCommand of true';
    const figures = await alternate({ pairs: runs, progress, label, ours, baseline: plain });
    return [differenceResult({ measurement: label, unit: 'ms', ...figures, limit: 25 })];
  });
}

async function mean(work) {
  const startedAt = performance.now();
  for (let run = 0; run < RUNS_PER_FIGURE; run += 1) await work();
  return (performance.now() - startedAt) / RUNS_PER_FIGURE;
}
