import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { StateDirectory } from '../../base/state-directory.ts';
import type { ClaudePlaces } from '../../confine/claude-places.ts';
import type { Confinement } from '../../confine/confinement.ts';
import { findSystemProgram } from '../../confine/find-system-program.ts';
import { runBounded } from '../../process/run-bounded.ts';
import { makeExecutorPipes } from '../../runner/executor-pipes.ts';
import { runCommandTool } from '../../tools/run-command.ts';
import type { Check } from './check.ts';
import type { DoctorLab } from './doctor-lab.ts';
import { type Attempt, probeArguments, readProbe } from './probe-script.ts';

const TIMEOUT_MS = 30_000;
const CANARY = 'reins-doctor-canary';

interface Promised {
  readonly id: string;
  /** What cannot be done, as the end of a sentence that begins with who cannot do it. */
  readonly title: string;
  readonly attempt: Attempt;
  /** Whether the attempt may succeed in there, and is judged by what is on the disk afterwards. */
  readonly leaves?: string;
}

/**
 * Tries, as a command and in the place of Claude Code, what must not be possible there. Each attempt is made without
 * confinement first: one that fails there too proves nothing, and counts as failed.
 */
export async function* checkPromises(
  lab: DoctorLab,
  state: StateDirectory,
  confinement: Confinement,
): AsyncGenerator<Check> {
  const promised = listPromises(lab, state);
  const attempts = promised.map(({ attempt }) => attempt);
  const control = await tryOutside(attempts);
  for (const { leaves } of promised) if (leaves !== undefined) rmSync(leaves, { force: true });
  const tried = await tryAsCommand(lab, attempts);
  yield* judge('commands', promised, control, tried);
  yield await checkLeftovers(lab);
  yield await checkWriteMode(lab);
  yield* checkClaude(lab, state, confinement);
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
            attempt: { kind: 'environment', text: CANARY } as const,
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

function* judge(
  group: 'commands' | 'claude',
  promised: readonly Promised[],
  control: readonly boolean[] | undefined,
  tried: readonly boolean[] | undefined,
): Generator<Check> {
  for (const [index, { id, title, leaves }] of promised.entries()) {
    const base = { id: `${group}.${id}`, group, title: `cannot ${title}` };
    const happened = leaves === undefined ? tried?.[index] : existsSync(leaves);
    if (control?.[index] !== true) {
      yield {
        ...base,
        status: 'failed',
        detail: 'could not be tried: it fails without confinement too',
        remedy: 'Report this, with the version of your system.',
      };
    } else if (tried === undefined) {
      yield {
        ...base,
        status: 'failed',
        detail: 'could not be tried: the sandbox did not start',
        remedy: 'Look at the requirements above.',
      };
    } else if (happened === true) {
      yield {
        ...base,
        status: 'failed',
        detail: 'it can, on this computer',
        remedy: 'Do not use Reins here, and report this.',
      };
    } else yield { ...base, status: 'ok', detail: 'tried' };
  }
}

async function tryOutside(attempts: readonly Attempt[]): Promise<boolean[] | undefined> {
  const run = await runBounded(
    {
      file: process.execPath,
      args: probeArguments(attempts),
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', REINS_DOCTOR: CANARY },
    },
    { timeoutMs: TIMEOUT_MS },
  );
  return readProbe(run.stdout.head.toString('utf8'));
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

/** A command that leaves a child behind in a session of its own: nothing of it may live on. */
async function checkLeftovers(lab: DoctorLab): Promise<Check> {
  const base = {
    id: 'commands.leftover',
    group: 'commands',
    title: 'cannot leave a process behind',
  } as const;
  const seconds = `86.${process.pid}`;
  const text = await runAsCommand(lab, [
    'sh',
    '-c',
    `(trap "" TERM HUP; exec sleep ${seconds}) & sleep 0.2`,
  ]);
  const left = findSleepers(seconds);
  if (text?.includes('Exit code 0') !== true) {
    return {
      ...base,
      status: 'failed',
      detail: 'could not be tried: the sandbox did not start',
      remedy: 'Look at the requirements above.',
    };
  }
  return left === 0
    ? { ...base, status: 'ok', detail: 'tried' }
    : {
        ...base,
        status: 'failed',
        detail: 'it can, on this computer',
        remedy: 'Do not use Reins here, and report this.',
      };
}

/** Both modes keep the promise; which one it is decides whether test suites that write can run. */
async function checkWriteMode(lab: DoctorLab): Promise<Check> {
  const text = await runAsCommand(lab, ['true']);
  const thrownAway = text?.includes('thrown away') === true;
  return {
    id: 'commands.writes',
    group: 'commands',
    title: thrownAway
      ? 'writes into a temporary layer, so builds and test suites run'
      : 'writes into /tmp alone: this system allows no temporary layer over directories',
    status: 'ok',
    detail: 'tried',
  };
}

function findSleepers(seconds: string): number {
  if (process.platform !== 'linux') return 0;
  return readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        readFileSync(`/proc/${name}/cmdline`, 'latin1').startsWith(`sleep\0${seconds}\0`)
      );
    } catch {
      return false;
    }
  }).length;
}

/** The probe in the place of Claude Code, with the places that a session has. */
async function* checkClaude(
  lab: DoctorLab,
  state: StateDirectory,
  confinement: Confinement,
): AsyncGenerator<Check> {
  const own = join(lab.root, 'claude');
  const places: ClaudePlaces = {
    executable: process.execPath,
    home: join(own, 'home'),
    configDirectory: join(own, 'config'),
    runtimeDirectory: join(own, 'runtime'),
    modelSocket: join(lab.root, 'm'),
    executorRequests: join(own, 'runtime', 'requests'),
    executorAnswers: join(own, 'runtime', 'answers'),
  };
  for (const path of [places.home, places.configDirectory, places.runtimeDirectory]) {
    mkdirSync(path, { recursive: true });
  }
  await makeExecutorPipes([places.executorRequests, places.executorAnswers]);
  const model = createServer((peer) => peer.destroy());
  await new Promise<void>((resolve) => model.listen(places.modelSocket, resolve));
  const inside = confinement.claudePlaces(places);
  const project = join(lab.project, 'read');
  const promised: Promised[] = [
    {
      id: 'port',
      title: 'reach a port of this computer',
      attempt: { kind: 'tcp', port: lab.port },
    },
    {
      id: 'socket',
      title: 'reach a unix socket but its own',
      attempt: { kind: 'unix', path: lab.socket },
    },
    { id: 'files', title: 'read a file of yours', attempt: { kind: 'read', path: lab.secret } },
    {
      id: 'state',
      title: "read Reins' own state",
      attempt: { kind: 'read', path: state.secretFile },
    },
    { id: 'project', title: 'change the project', attempt: { kind: 'write', path: project } },
    {
      id: 'signal',
      title: 'signal a process of yours',
      attempt: { kind: 'signal', pid: process.pid },
    },
  ];
  const wanted: Attempt[] = [
    { kind: 'unix', path: inside.modelSocket },
    { kind: 'write', path: join(inside.home, 'x') },
  ];
  const attempts = promised.map(({ attempt }) => attempt);
  const control = await tryOutside(attempts);
  const confined = confinement.confineClaude(places, {
    args: probeArguments([...attempts, ...wanted]),
    env: { PATH: '/usr/bin:/bin' },
  });
  const run = await runBounded(confined.command, { timeoutMs: TIMEOUT_MS });
  model.close();
  const tried = readProbe(run.stdout.head.toString('utf8'));
  yield* judge('claude', promised, control, tried);
  const base = {
    id: 'claude.own',
    group: 'claude',
    title: 'reaches its model and its own directories',
  } as const;
  yield tried?.slice(attempts.length).every(Boolean) === true
    ? { ...base, status: 'ok', detail: 'tried' }
    : {
        ...base,
        status: 'failed',
        detail: 'it does not, so no session works here',
        remedy: 'Report this, with the version of your system.',
      };
}
