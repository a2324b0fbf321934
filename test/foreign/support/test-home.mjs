import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A home directory, a state directory and a project that belong to one part alone.
 *
 * @typedef {object} TestHome
 * @property {string} root
 * @property {string} project
 * @property {string} state
 * @property {Record<string, string>} env the whole environment of what is started here, built from nothing
 * @property {() => Promise<void>} dispose ends every process that was started in this home and removes it
 */

/** @returns {TestHome} */
export function createTestHome(extra) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'reins-foreign-home-')));
  const [project, state, temporary] = ['project', 'state', 'tmp'].map((name) => join(root, name));
  mkdirSync(project);
  mkdirSync(temporary);
  return {
    root,
    project,
    state,
    env: {
      HOME: root,
      TMPDIR: temporary,
      PATH: '/usr/bin:/bin',
      LANG: 'C.UTF-8',
      REINS_STATE_DIR: state,
      ...extra,
    },
    async dispose() {
      await endProcessesOf(root);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Every process whose environment or command line names `root`, found through what the kernel tells of it. */
export function processesOf(root) {
  if (process.platform === 'linux') {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .filter((pid) => {
        try {
          return ['environ', 'cmdline'].some((file) =>
            readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(root),
          );
        } catch {
          return false;
        }
      })
      .map(Number);
  }
  return execFileSync('/bin/ps', ['-axEwwo', 'pid=,command='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(root))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => pid !== process.pid);
}

async function endProcessesOf(root) {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const left = processesOf(root);
    if (left.length === 0) return;
    for (const pid of left) {
      try {
        process.kill(pid, attempt < 20 ? 'SIGTERM' : 'SIGKILL');
      } catch {
        // It ended between the look and the signal.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`processes of ${root} could not be ended: ${processesOf(root).join(', ')}`);
}
