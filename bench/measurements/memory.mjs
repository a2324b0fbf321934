import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectGateway } from '../support/gateway.mjs';
import { findProcesses, residentMegabytes } from '../support/processes.mjs';
import { plainResult } from '../support/results.mjs';
import { startSession } from '../support/session.mjs';
import { textOf } from '../support/text.mjs';
import { withWorkspace } from '../support/workspace.mjs';

const SESSIONS = 3;
const TURNS = 10;

/** Resident memory of a gateway after tools/list and one call, and of a runner after ten turns. */
export async function measureMemory({ progress }) {
  const gateways = [];
  const runners = [];
  for (let round = 1; round <= SESSIONS; round += 1) {
    progress.say(`memory: session ${round} of ${SESSIONS}`);
    const { gateway, runner } = await withWorkspace(measureOnce);
    gateways.push(gateway);
    runners.push(runner);
  }
  return [
    plainResult({
      measurement: 'memory of the gateway (stdio)',
      unit: 'MB',
      samples: gateways,
      limit: 70,
    }),
    plainResult({
      measurement: `memory of the runner, ${TURNS} turns`,
      unit: 'MB',
      samples: runners,
      limit: 80,
    }),
  ];
}

async function measureOnce(workspace) {
  const gateway = await connectGateway(workspace);
  try {
    await gateway.client.listTools();
    const session = await startSession(gateway.client, workspace.project);
    const gatewayMegabytes = residentMegabytes(gateway.pid);
    const file = join(workspace.project, 'file.txt');
    writeFileSync(file, textOf(10 * 1024));
    for (let turn = 0; turn < TURNS; turn += 1) await session.read(file);
    const runners = findProcesses(workspace.root).filter(({ command }) =>
      command.includes('runner.js'),
    );
    if (runners.length !== 1) throw new Error(`${runners.length} runners instead of one`);
    return { gateway: gatewayMegabytes, runner: residentMegabytes(runners[0].pid) };
  } finally {
    await gateway.close();
  }
}
