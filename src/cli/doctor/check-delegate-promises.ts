import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSupervision } from '../../delegate/supervision.ts';
import { endLeftover } from '../../process/end-leftover.ts';
import {
  describeCommand,
  listProcesses,
  type ProcessRecord,
} from '../../process/list-processes.ts';
import { runBounded } from '../../process/run-bounded.ts';
import { supervisorLaunch } from '../supervisor-command.ts';
import type { Check } from './check.ts';
import { concludePromise, PROBE_TIMEOUT_MS } from './promise.ts';

/** For a process in the background to come to run, in milliseconds. */
const START_MS = 300;
/** A limit that is known, where there is nothing that adopts. */
const REMEDY =
  'Install perl if it is missing above. Without it, and on macOS, the end of a delegated run need not be the end of all that it started.';
const ENVIRONMENT = { PATH: '/usr/bin:/bin' };

/** Tries with a shell in the place of Claude Code whether a delegated run can leave a process behind. */
export async function* checkDelegatePromises(): AsyncGenerator<Check> {
  const [outside, inside] = [freshTag(), freshTag()];
  const promise = {
    id: 'delegate.leave',
    group: 'delegate',
    title: 'cannot leave a process behind, whatever it does to hide it',
  } as const;
  await runBounded(shell(outside), { timeoutMs: PROBE_TIMEOUT_MS });
  await sleep(START_MS);
  const control = findTagged(outside);
  for (const left of control) await endLeftover(left);
  const supervision = startSupervision(await supervisorLaunch());
  const { cleanup, notStarted } = await supervision.run(
    {
      ...shell(inside),
      candidates: ['/bin/sh'],
      question: { args: ['-c', 'echo sh'], answer: 'sh\n' },
      stdin: null,
      marker: `reins-doctor.${inside}`,
    },
    { onStarted() {}, onExited() {}, onOutput() {}, onErrorOutput() {} },
  );
  const left = findTagged(inside);
  for (const each of left) await endLeftover(each);
  if (control.length === 0) yield concludePromise(promise, 'controlFailed');
  else if (notStarted !== null) yield concludePromise(promise, 'notStarted');
  else if (left.length === 0 && cleanup.kind === 'clean') yield concludePromise(promise, 'held');
  else yield { ...concludePromise(promise, 'broken'), remedy: REMEDY };
}

/** A child that has left its parent, its environment and, where there is a program for that, its session. */
function shell(tag: string) {
  const hide = process.platform === 'linux' ? 'env -i setsid' : 'nohup';
  const script = `(${hide} sh -c 'sleep 60.${tag} & exit' &) ; exit 0`;
  return { file: '/bin/sh', args: ['-c', script], cwd: '/', env: ENVIRONMENT };
}

function findTagged(tag: string): ProcessRecord[] {
  return listProcesses().filter(({ pid }) => describeCommand(pid).includes(`sleep 60.${tag}`));
}

function freshTag(): string {
  return String(randomInt(1e8, 1e9));
}
