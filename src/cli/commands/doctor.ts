import { ReinsError } from '../../base/reins-error.ts';
import { openStateDirectory, readOrCreateSecret } from '../../base/state-directory.ts';
import { openConfinement } from '../../confine/open-confinement.ts';
import { closeInherited } from '../../process/close-inherited.ts';
import type { Check } from '../doctor/check.ts';
import { checkClaudePromises } from '../doctor/check-claude-promises.ts';
import { checkCommandPromises } from '../doctor/check-command-promises.ts';
import { checkDelegatePromises } from '../doctor/check-delegate-promises.ts';
import { checkRequirements } from '../doctor/check-requirements.ts';
import { createDoctorLab } from '../doctor/doctor-lab.ts';
import type { Environment } from '../environment.ts';
import { describeTerminal } from '../terminal.ts';
import { toJsonText } from '../to-json-text.ts';

const HEADINGS: Readonly<Record<Check['group'], string>> = {
  requirement: 'What is installed',
  commands: 'A command of a session, tried just now',
  claude: 'Claude Code of a session, tried just now',
  delegate: 'A delegated run, tried just now',
};

/** `reins doctor`: what is there, what is missing, and which promises hold on this computer. Exit code 1 if any does not. */
export async function runDoctor(
  environment: Environment,
  options: { readonly json?: true },
): Promise<void> {
  closeInherited();
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.once(signal, () => process.exit(code));
  }
  const checks: Check[] = [];
  const print = options.json ? () => {} : createPrinter();
  for await (const check of examine(environment)) {
    checks.push(check);
    print(check);
  }
  const bad = checks.filter(({ status }) => status !== 'ok');
  if (options.json) {
    process.stdout.write(toJsonText({ ok: bad.length === 0, checks }));
  } else {
    process.stdout.write(
      bad.length === 0
        ? `\nAll ${checks.length} checks passed.\n`
        : `\n${bad.length} of ${checks.length} checks did not pass.\n`,
    );
  }
  process.exitCode = bad.length === 0 ? 0 : 1;
}

async function* examine(environment: Environment): AsyncGenerator<Check> {
  const state = openStateDirectory(environment.stateDirectory);
  readOrCreateSecret(state.secretFile);
  yield* checkRequirements(environment);
  try {
    const confinement = await openConfinement(process.platform);
    yield {
      id: 'confinement',
      group: 'requirement',
      title: 'Confinement',
      status: 'ok',
      detail: 'a sandbox starts',
    };
    const lab = await createDoctorLab(environment, state, confinement, (remove) =>
      process.once('exit', remove),
    );
    try {
      yield* checkCommandPromises(lab, state);
      yield* checkClaudePromises(lab, state, confinement);
    } finally {
      lab.dispose();
    }
  } catch (error) {
    if (!(error instanceof ReinsError)) throw error;
    yield {
      id: 'confinement',
      group: 'requirement',
      title: 'Confinement',
      status: 'missing',
      detail: error.code,
      remedy: error.message,
    };
  }
  yield* checkDelegatePromises();
}

function createPrinter(): (check: Check) => void {
  const { colour } = describeTerminal(process.stdout, process.env);
  const paint = (code: number, text: string): string =>
    colour ? `\u001b[${code}m${text}\u001b[0m` : text;
  let group: Check['group'] | undefined;
  return (check) => {
    if (check.group !== group) {
      process.stdout.write(`${group === undefined ? '' : '\n'}${HEADINGS[check.group]}\n`);
      group = check.group;
    }
    const good = check.status === 'ok';
    const mark = good ? paint(32, '✓') : paint(31, '✗');
    const detail = check.detail === 'tried' ? '' : `  ${paint(2, check.detail)}`;
    process.stdout.write(`  ${mark} ${check.title}${detail}\n`);
    if (!good && check.remedy !== undefined) process.stdout.write(`      ${check.remedy}\n`);
  };
}
