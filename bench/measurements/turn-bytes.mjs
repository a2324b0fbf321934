import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectGateway } from '../support/gateway.mjs';
import { plainResult } from '../support/results.mjs';
import { startSession } from '../support/session.mjs';
import { withWorkspace } from '../support/workspace.mjs';

const TURNS = 10;

/** What the client receives for each turn of a conversation: linear means that no turn repeats the ones before. */
export function measureTurnBytes({ progress }) {
  return withWorkspace(async (workspace) => {
    progress.say(`bytes per turn: ${TURNS} turns`);
    const file = join(workspace.project, 'file.txt');
    writeFileSync(file, 'one\ntwo\nthree\n');
    const gateway = await connectGateway(workspace);
    try {
      const session = await startSession(gateway.client, workspace.project);
      const sizes = [sizeOf(session.first)];
      while (sizes.length < TURNS) sizes.push(sizeOf(await session.read(file)));
      const [first, second, ...others] = sizes;
      const growth = others.at(-1) / second;
      return [
        plainResult({
          measurement: `bytes of turns 2 to ${TURNS}`,
          unit: 'bytes',
          samples: [second, ...others],
          note: `turn 1 with full context ${first}, then ${[second, ...others].join(' ')}`,
        }),
        plainResult({
          measurement: `turn ${TURNS} against turn 2`,
          unit: 'x',
          samples: [growth],
          limit: 1.05,
        }),
      ];
    } finally {
      await gateway.close();
    }
  });
}

function sizeOf(state) {
  return Buffer.byteLength(JSON.stringify(state));
}
