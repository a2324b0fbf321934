import { createHash } from 'node:crypto';
import { statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadProduct } from '../support/load-product.mjs';
import { plainResult } from '../support/results.mjs';
import { textOf } from '../support/text.mjs';
import { withWorkspace } from '../support/workspace.mjs';

const ITERATIONS = 200;
/** Carried out first and not counted. */
const WARM_UP = 50;
/** As many calls as are authorised by one reply. */
const CALLS_PER_REPLY = 50;
const FILE_BYTES = 10 * 1024;
const TMPFS_MAGIC = 0x01021994;

/** One authorised Read and one authorised Edit in the executor, every commit on disk, without any other process. */
export function measureExecutor({ progress }) {
  return withWorkspace(async (workspace) => {
    const product = await loadProduct(workspace);
    const file = join(workspace.project, 'file.txt');
    writeFileSync(file, `mark 0\n${textOf(FILE_BYTES - 7)}`);
    const session = openSession(product, workspace);
    try {
      const read = { tool: 'Read', input: { file_path: file } };
      const reads = await session.run(
        Array.from({ length: WARM_UP + ITERATIONS }, () => read),
        () => progress.say('executor: Read'),
      );
      const edits = await session.run(
        Array.from({ length: WARM_UP + ITERATIONS }, (_, index) => ({
          tool: 'Edit',
          input: {
            file_path: file,
            old_string: `mark ${index}\n`,
            new_string: `mark ${index + 1}\n`,
          },
        })),
        () => progress.say('executor: Edit'),
      );
      const note = describeDisk(workspace.root);
      return [
        plainResult({
          measurement: 'executor: Read of 10 KB',
          unit: 'ms',
          samples: reads.slice(WARM_UP),
          limit: 1,
        }),
        plainResult({
          measurement: 'executor: Edit, durable',
          unit: 'ms',
          samples: edits.slice(WARM_UP),
          limit: 4,
          note,
        }),
      ];
    } finally {
      session.close();
    }
  });
}

function openSession(product, workspace) {
  const database = product.openLedger(join(workspace.root, 'state.db'));
  const now = () => new Date();
  const { sessionId, leaseId } = product.createSession(
    database,
    {
      prompt: 'Do what the script says.',
      workingDirectory: workspace.project,
      idempotencyKey: 'start',
      label: null,
      profile: 'direct_write',
      subagentPolicy: 'none',
    },
    { workingDirectory: workspace.project, worktree: null },
    3600,
    now(),
  );
  const run = product.startQueuedRun(database, sessionId, now());
  const executor = product.createExecutor({
    database,
    session: sessionId,
    subsession: null,
    tools: product.toolsFor('direct_write'),
    context: {
      workingDirectory: workspace.project,
      writeRoot: workspace.project,
      protection: product.createPathProtection(
        workspace.env.HOME,
        workspace.env.REINS_STATE_DIR,
        process.platform,
        { closed: [], opened: [] },
      ),
      commands: null,
      lastSeen: (path) => product.findLastSeenContent(database, sessionId, null, path),
    },
    clock: now,
    onChange: () => {},
  });
  let turns = 0;

  function authorize(calls) {
    turns += 1;
    const turn = product.presentTurn(
      database,
      sessionId,
      {
        runId: run.id,
        purpose: 'step',
        requestSha256: createHash('sha256').update(String(turns)).digest('hex'),
        messages: [],
        fullContext: false,
      },
      now(),
    );
    const reply = {
      sessionId,
      leaseId,
      turnId: turn.id,
      replyId: `reply-${turns}`,
      text: '',
      calls,
    };
    return product.acceptReply(database, reply, now()).actions;
  }

  return {
    /** Carries the calls out one after the other; milliseconds of each. Authorising them is not counted. */
    async run(calls, onReply) {
      const times = [];
      for (let first = 0; first < calls.length; first += CALLS_PER_REPLY) {
        onReply();
        for (const action of authorize(calls.slice(first, first + CALLS_PER_REPLY))) {
          const startedAt = performance.now();
          const receipt = await executor.execute(action);
          times.push(performance.now() - startedAt);
          if (receipt.is_error) throw new Error(`${action.tool}: ${receipt.text}`);
        }
      }
      return times;
    },
    close: () => database.close(),
  };
}

function describeDisk(path) {
  const inMemory = statfsSync(path).type === TMPFS_MAGIC;
  return inMemory
    ? 'measured in memory, where syncing is free; set TMPDIR to a place on disk'
    : null;
}
