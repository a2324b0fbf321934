import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { StateDirectory } from '../../base/state-directory.ts';
import { findSystemProgram } from '../../confine/find-system-program.ts';
import { runBounded } from '../../process/run-bounded.ts';
import { runCommand } from '../../process/run-command.ts';
import { runCommandTool } from '../../tools/run-command.ts';
import type { Check } from './check.ts';
import type { DoctorLab } from './doctor-lab.ts';
import { type Attempt, probeArguments, readProbe } from './probe-script.ts';
import {
  concludePromise,
  ENVIRONMENT_CANARY,
  judgePromises,
  PROBE_TIMEOUT_MS,
  type Promised,
  tryOutside,
} from './promise.ts';

/** Of a list of all processes, in bytes. */
const MAX_LIST_BYTES = 8 * 1024 * 1024;

/** Tries as a command of a session, through the tool itself, what must not be possible there. */
export async function* checkCommandPromises(
  lab: DoctorLab,
  state: StateDirectory,
): AsyncGenerator<Check> {
  const promised = listPromises(lab, state);
  const attempts = promised.map(({ attempt }) => attempt);
  const control = await tryOutside(attempts);
  for (const { leaves } of promised) if (leaves !== undefined) rmSync(leaves, { force: true });
  const tried = await tryAsCommand(lab, attempts);
  yield* judgePromises('commands', promised, control, tried);
  yield await checkLeftovers(lab);
  yield await checkWriteMode(lab);
}

function listPromises(lab: DoctorLab, state: StateDirectory): Promised[] {
  const inHome = join(lab.root, 'written');
  const inProject = join(lab.project, 'written');
  const unshare = process.platform === 'linux' ? findSystemProgram('unshare') : undefined;
  return [
    {
      id: 'port',
      title: 'reach a port of this computer',
      attempt: { kind: 'tcp', port: lab.port },
    },
    { id: 'socket', title: 'reach a unix socket', attempt: { kind: 'unix', path: lab.socket } },
    { id: 'secret', title: 'read a protected file', attempt: { kind: 'read', path: lab.secret } },
    {
      id: 'state',
      title: "read Reins' own state",
      attempt: { kind: 'read', path: state.secretFile },
    },
    {
      id: 'project',
      title: 'change the project',
      attempt: { kind: 'write', path: inProject },
      leaves: inProject,
    },
    {
      id: 'home',
      title: 'change the home directory',
      attempt: { kind: 'write', path: inHome },
      leaves: inHome,
    },
    {
      id: 'signal',
      title: 'signal a process of yours',
      attempt: { kind: 'signal', pid: process.pid },
    },
    ...(process.platform === 'linux'
      ? [
          {
            id: 'environment',
            title: "see another process's environment",
            attempt: { kind: 'environment', text: ENVIRONMENT_CANARY } as const,
          },
        ]
      : []),
    ...(unshare === undefined
      ? []
      : [
          {
            id: 'namespace',
            title: 'make a user namespace',
            attempt: { kind: 'run', file: unshare, args: ['--user', 'true'] } as const,
          },
        ]),
  ];
}

async function runAsCommand(lab: DoctorLab, argv: readonly string[]): Promise<string | undefined> {
  if (runCommandTool.kind !== 'command') return undefined;
  const signal = new AbortController().signal;
  return runCommandTool.execute({ argv }, lab.context, signal).then(
    ({ text }) => text,
    () => undefined,
  );
}

async function tryAsCommand(
  lab: DoctorLab,
  attempts: readonly Attempt[],
): Promise<boolean[] | undefined> {
  const text = await runAsCommand(lab, [process.execPath, ...probeArguments(attempts)]);
  return text === undefined ? undefined : readProbe(text);
}

/** A command that leaves a child behind which ignores SIGTERM and SIGHUP: it may not live on. The control is the same program, started outside. */
async function checkLeftovers(lab: DoctorLab): Promise<Check> {
  const promise = {
    id: 'commands.leftover',
    group: 'commands',
    title: 'cannot leave a process behind',
  } as const;
  const [seconds, controlSeconds] = [`86.${process.pid}`, `87.${process.pid}`];
  if (!(await seesSleeper(controlSeconds))) return concludePromise(promise, 'controlFailed');
  const text = await runAsCommand(lab, [
    'sh',
    '-c',
    `(trap "" TERM HUP; exec sleep ${seconds}) & sleep 0.2`,
  ]);
  const left = await countSleepers(seconds);
  if (text?.includes('Exit code 0') !== true) return concludePromise(promise, 'notStarted');
  return concludePromise(promise, left === 0 ? 'held' : 'broken');
}

/** Both modes keep the promise; which one it is decides whether test suites that write can run. */
async function checkWriteMode(lab: DoctorLab): Promise<Check> {
  const text = await runAsCommand(lab, ['true']);
  const promise = { id: 'commands.writes', group: 'commands' } as const;
  if (text === undefined) {
    return concludePromise({ ...promise, title: 'writes, and nothing of it stays' }, 'notStarted');
  }
  const title = text.includes('thrown away')
    ? 'writes into a temporary layer, so builds and test suites run'
    : 'writes into /tmp alone: this system allows no temporary layer over directories';
  return concludePromise({ ...promise, title }, 'held');
}

/** Whether a process outside that sleeps for so long is found. */
async function seesSleeper(seconds: string): Promise<boolean> {
  const found = new AbortController();
  const run = runBounded(
    { file: 'sleep', args: [seconds], cwd: '/', env: { PATH: '/usr/bin:/bin' } },
    { timeoutMs: PROBE_TIMEOUT_MS, signal: found.signal },
  );
  const count = await countSleepers(seconds);
  found.abort();
  await run;
  return count === 1;
}

/** How many processes sleep for so long. Found by their command lines: in a sandbox they have other ids than here. */
async function countSleepers(seconds: string): Promise<number> {
  const lines = process.platform === 'linux' ? listCommandLines() : await listByPs();
  return lines.filter((line) => line.trim() === `sleep ${seconds}`).length;
}

function listCommandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    });
}

/** Nothing when the list could not be had, which the control notices. */
async function listByPs(): Promise<string[]> {
  const list = await runCommand(
    { file: '/bin/ps', args: ['-axo', 'args='], cwd: '/', env: { LC_ALL: 'C' } },
    { timeoutMs: PROBE_TIMEOUT_MS, maxBytes: MAX_LIST_BYTES },
  );
  return list.ended === 'exit' ? list.stdout.toString('utf8').split('\n') : [];
}
