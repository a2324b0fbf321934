import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { connectGateway } from '../support/gateway.mjs';
import { plainResult } from '../support/results.mjs';
import { startSession } from '../support/session.mjs';
import { withWorkspace } from '../support/workspace.mjs';

const STEPS = 5;
const TURNS_PER_STEP = 20;

/** By how much state.db grows with each turn that reads a small file. */
export function measureGrowth({ progress }) {
  return withWorkspace(async (workspace) => {
    const file = join(workspace.project, 'file.txt');
    writeFileSync(file, 'one\ntwo\nthree\n');
    const gateway = await connectGateway(workspace);
    try {
      const session = await startSession(gateway.client, workspace.project);
      const path = join(workspace.env.REINS_STATE_DIR, 'state.db');
      const perTurn = [];
      let before = checkpointedBytes(path);
      for (let step = 1; step <= STEPS; step += 1) {
        progress.say(`growth of state.db: ${step * TURNS_PER_STEP} turns`);
        for (let turn = 0; turn < TURNS_PER_STEP; turn += 1) await session.read(file);
        const after = checkpointedBytes(path);
        perTurn.push((after - before) / TURNS_PER_STEP);
        before = after;
      }
      return [
        plainResult({
          measurement: 'growth of state.db per turn',
          unit: 'bytes',
          samples: perTurn,
          note: `${STEPS} times ${TURNS_PER_STEP} turns, each with a Read of a few bytes`,
        }),
      ];
    } finally {
      await gateway.close();
    }
  });
}

/** The size of the database once everything that was committed is in its main file. */
function checkpointedBytes(path) {
  const database = new Database(path);
  try {
    const [row] = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    if (row.busy !== 0) throw new Error('the checkpoint met a reader');
    return statSync(path).size;
  } finally {
    database.close();
  }
}
