import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { StateDirectory } from '../../base/state-directory.ts';
import type { ClaudePlaces } from '../../confine/claude-places.ts';
import type { Confinement } from '../../confine/confinement.ts';
import { runBounded } from '../../process/run-bounded.ts';
import { makeExecutorPipes } from '../../runner/executor-pipes.ts';
import type { Check } from './check.ts';
import type { DoctorLab } from './doctor-lab.ts';
import { type Attempt, probeArguments, readProbe } from './probe-script.ts';
import { judgePromises, PROBE_TIMEOUT_MS, type Promised, tryOutside } from './promise.ts';

/** Tries in the place of Claude Code, with the places that a session has, what must not be possible there. */
export async function* checkClaudePromises(
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
  const run = await runBounded(confined.command, { timeoutMs: PROBE_TIMEOUT_MS });
  model.close();
  const tried = readProbe(run.stdout.head.toString('utf8'));
  yield* judgePromises('claude', promised, control, tried);
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
