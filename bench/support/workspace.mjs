import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcesses } from './processes.mjs';
import { findPinnedClaude } from './product-files.mjs';

const open = new Set();

/**
 * Directories of one measurement, and the environment, built from nothing, of what runs in them. Every process that is
 * started with that environment names `root`, which is how `dispose` finds what is left.
 */
export function createWorkspace() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'reins-bench-')));
  const project = join(root, 'project');
  mkdirSync(project);
  const workspace = {
    root,
    project,
    env: {
      HOME: root,
      PATH: '/usr/bin:/bin',
      LANG: 'C.UTF-8',
      REINS_STATE_DIR: join(root, 'state'),
      CLAUDE_BIN: findPinnedClaude(),
    },
    async dispose() {
      await endProcesses(root);
      await rm(root, { recursive: true, force: true });
      open.delete(workspace);
    },
  };
  open.add(workspace);
  return workspace;
}

/** Runs `work` with a workspace of its own and leaves nothing of it behind. */
export async function withWorkspace(work) {
  const workspace = createWorkspace();
  try {
    return await work(workspace);
  } finally {
    await workspace.dispose();
  }
}

/** For an interrupted run. */
export async function disposeWorkspaces() {
  await Promise.all([...open].map((workspace) => workspace.dispose()));
}

async function endProcesses(root) {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const left = findProcesses(root);
    if (left.length === 0) return;
    for (const { pid } of left) {
      try {
        process.kill(pid, attempt < 20 ? 'SIGTERM' : 'SIGKILL');
      } catch {
        // It ended between the look and the signal.
      }
    }
    await sleep(50);
  }
  throw new Error(`processes of ${root} could not be ended`);
}
