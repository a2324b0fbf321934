import { setTimeout as sleep } from 'node:timers/promises';
import { endFamily } from '../../process/end-family.ts';
import type { ProcessFamily } from '../../process/process-family.ts';
import { askProgram } from '../../process/spawn-apart.ts';
import type { SupervisorOrder } from './messages.ts';

/** A version is printed in about 20 ms; a program that needs this long is not answering. */
const ANSWER_MS = 10_000;
const MAX_ANSWER_BYTES = 4_096;
const MAX_QUOTED_LENGTH = 100;
/** For what a question started beside its answer, in milliseconds. */
const LEFTOVER_GRACE_MS = 500;

export type FoundProgram =
  | { readonly kind: 'program'; readonly file: string }
  | {
      readonly kind: 'none';
      readonly seen: readonly { readonly file: string; readonly said: string }[];
    };

/**
 * Asks the candidates, in the environment and the place in which the program is to run, until one answers exactly as
 * expected. A question is part of the run: what it starts is ended before anything else happens.
 */
export async function findProgram(
  { candidates, question, cwd, env }: SupervisorOrder,
  family: ProcessFamily,
  endRequested: Promise<void>,
): Promise<FoundProgram> {
  const seen: { file: string; said: string }[] = [];
  let isEndRequested = false;
  void endRequested.then(() => {
    isEndRequested = true;
  });
  for (const file of candidates) {
    const timer = new AbortController();
    const late = sleep(ANSWER_MS, 'late', { signal: timer.signal }).catch(() => {});
    const answer = await askProgram(
      { file, args: question.args, cwd, env },
      MAX_ANSWER_BYTES,
      Promise.race([late, endRequested]),
    );
    timer.abort();
    await endFamily(family, LEFTOVER_GRACE_MS);
    if (isEndRequested) break;
    if (answer.exitCode === 0 && answer.stdout === question.answer)
      return { kind: 'program', file };
    seen.push({ file, said: describe(answer) });
  }
  return { kind: 'none', seen };
}

function describe({ exitCode, stdout, error }: Awaited<ReturnType<typeof askProgram>>): string {
  if (error !== null) return `could not be started (${error})`;
  if (exitCode === null) return `did not answer within ${ANSWER_MS / 1000} s, or was ended`;
  const text = stdout.trim().slice(0, MAX_QUOTED_LENGTH);
  const said = text === '' ? 'said nothing' : `said "${text}"`;
  return exitCode === 0 ? said : `${said} and exited with code ${exitCode}`;
}
