import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A home directory, a state directory and a project that belong to one test alone. */
export interface TestHome {
  readonly root: string;
  readonly project: string;
  readonly state: string;
  /** The whole environment for processes under test: built from nothing. */
  readonly env: Record<string, string>;
  /** Ends every process that was started in this home and removes it. Fails when one had been left. */
  dispose(): Promise<void>;
}

const stateDirectories = new Set<string>();

/** N46: what no answer to a client may contain, checked for every call that a test makes. */
export function findPrivateText(text: string): string | undefined {
  const place = [...stateDirectories].find((directory) => text.includes(directory));
  if (place !== undefined) return place;
  const secret = [...stateDirectories].flatMap(readSecrets).find((each) => text.includes(each));
  if (secret !== undefined) return 'a secret of the state directory';
  return /\brunner_[A-Za-z0-9_-]{20}\b|"(pid|runner_pid|birth)"|sk-ant-|Bearer /.exec(text)?.[0];
}

function readSecrets(directory: string): string[] {
  return ['secret.key', 'http-token'].flatMap((name) => {
    try {
      return [readFileSync(join(directory, name), 'utf8').trim()];
    } catch {
      return [];
    }
  });
}

export function createTestHome(extra: Record<string, string> = {}): TestHome {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'reins-test-')));
  const project = join(root, 'project');
  const state = join(root, 'state');
  mkdirSync(project);
  stateDirectories.add(state);
  return {
    root,
    project,
    state,
    env: {
      HOME: root,
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

/**
 * Every process whose environment, command line or mounts name `root`, found through what the kernel tells of it. A
 * confined process knows the places only by what is mounted in it, and its keeper not at all.
 */
export function processesOf(root: string): number[] {
  if (process.platform === 'linux') {
    const pids = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .map(Number);
    const named = pids.filter((pid) =>
      ['environ', 'cmdline', 'mountinfo'].some((file) => readProcess(pid, file).includes(root)),
    );
    const parents = new Set(
      named.map((pid) => Number(/^PPid:\s*(\d+)$/m.exec(readProcess(pid, 'status'))?.[1])),
    );
    const keepers = pids.filter(
      (pid) => parents.has(pid) && readProcess(pid, 'comm').trim() === 'bwrap',
    );
    return [...new Set([...named, ...keepers])].sort((a, b) => a - b);
  }
  return execFileSync('/bin/ps', ['-axEwwo', 'pid=,command='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(root))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => pid !== process.pid);
}

function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** Ends each of them that is still there: the end of one can be the end of another. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // ESRCH: it went with one before it.
    }
  }
}

async function endProcessesOf(root: string): Promise<void> {
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
