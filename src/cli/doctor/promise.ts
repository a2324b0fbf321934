import { existsSync } from 'node:fs';
import { runBounded } from '../../process/run-bounded.ts';
import type { Check } from './check.ts';
import { type Attempt, probeArguments, readProbe } from './probe-script.ts';

/** How long a probe may take, with or without confinement. */
export const PROBE_TIMEOUT_MS = 30_000;
/** What the environment of the control holds, for the attempt to see it from elsewhere. */
export const ENVIRONMENT_CANARY = 'reins-doctor-canary';

/** What must not be possible in a sandbox, and the attempt that shows it. Each is made without confinement first: one that fails there too proves nothing, and counts as failed. */
export interface Promised {
  readonly id: string;
  /** What cannot be done, as the end of a sentence that begins with who cannot do it. */
  readonly title: string;
  readonly attempt: Attempt;
  /** Whether the attempt may succeed in there, and is judged by what is on the disk afterwards. */
  readonly leaves?: string;
}

type CheckedPromise = Pick<Check, 'id' | 'group' | 'title'>;

const OUTCOMES = {
  held: { status: 'ok', detail: 'tried' },
  broken: {
    status: 'failed',
    detail: 'it can, on this computer',
    remedy: 'Do not use Reins here, and report this.',
  },
  controlFailed: {
    status: 'failed',
    detail: 'could not be tried: it fails without confinement too',
    remedy: 'Report this, with the version of your system.',
  },
  notStarted: {
    status: 'failed',
    detail: 'could not be tried: the sandbox did not start',
    remedy: 'Look at the requirements above.',
  },
} as const satisfies Record<string, Omit<Check, keyof CheckedPromise>>;

export function concludePromise(promise: CheckedPromise, outcome: keyof typeof OUTCOMES): Check {
  return { ...promise, ...OUTCOMES[outcome] };
}

/** `control` and `tried` are in the order of `promised`, undefined where the probe did not come to its end. */
export function* judgePromises(
  group: Exclude<Check['group'], 'requirement'>,
  promised: readonly Promised[],
  control: readonly boolean[] | undefined,
  tried: readonly boolean[] | undefined,
): Generator<Check> {
  for (const [index, { id, title, leaves }] of promised.entries()) {
    const promise = { id: `${group}.${id}`, group, title: `cannot ${title}` };
    const happened = leaves === undefined ? tried?.[index] : existsSync(leaves);
    if (control?.[index] !== true) yield concludePromise(promise, 'controlFailed');
    else if (tried === undefined) yield concludePromise(promise, 'notStarted');
    else yield concludePromise(promise, happened === true ? 'broken' : 'held');
  }
}

/** The control: the same attempts without confinement, where each has to succeed to prove anything. */
export async function tryOutside(attempts: readonly Attempt[]): Promise<boolean[] | undefined> {
  const run = await runBounded(
    {
      file: process.execPath,
      args: probeArguments(attempts),
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', REINS_DOCTOR: ENVIRONMENT_CANARY },
    },
    { timeoutMs: PROBE_TIMEOUT_MS },
  );
  return readProbe(run.stdout.head.toString('utf8'));
}
