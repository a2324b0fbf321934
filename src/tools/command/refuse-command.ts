import { basename } from 'node:path';
import { ReinsError } from '../../base/reins-error.ts';
import { REFUSED_OPTIONS, REFUSED_PROGRAMS, WRAPPERS } from './refused-programs.ts';

/** How many programs may stand one behind the other in one argument list. */
const MAX_WRAPPERS = 8;

/** Throws `command_refused` with the reason and the alternative for what is not started at all. */
export function refuseCommand(argv: readonly string[]): void {
  let rest = argv;
  for (let depth = 0; depth <= MAX_WRAPPERS && rest.length > 0; depth += 1) {
    const name = programName(rest[0] ?? '');
    refuseProgram(name);
    refuseOptions(name, rest.slice(1));
    if (!WRAPPERS.includes(name)) return;
    rest = behindWrapper(name, rest.slice(1));
  }
}

function programName(word: string): string {
  return basename(word).toLowerCase();
}

function refuseProgram(name: string): void {
  const group = REFUSED_PROGRAMS.find(({ names }) =>
    names.includes(name.replace(/\.(exe|js|mjs)$/, '')),
  );
  if (group === undefined && !name.startsWith('mkfs.')) return;
  const { reason, instead } = group ?? {
    reason: 'commands do not control the system',
    instead: 'ask the person at the computer',
  };
  throw new ReinsError('command_refused', `argv names ${name}, and ${reason}; ${instead}.`);
}

function refuseOptions(name: string, words: readonly string[]): void {
  const rule = REFUSED_OPTIONS.find(({ programs }) => programs.includes(name));
  if (rule === undefined) return;
  const found = words.find((word) =>
    rule.options.some(
      (option) =>
        word === option ||
        word.startsWith(`${option}=`) ||
        // A short option takes its value in the same word.
        (/^-[A-Za-z]$/.test(option) && word.startsWith(option) && !word.startsWith('--')),
    ),
  );
  if (found === undefined) return;
  const option = found.split('=')[0];
  throw new ReinsError(
    'command_refused',
    `argv has ${option} of ${name}, which makes it run or change something else; ${rule.instead}.`,
  );
}

/** The words from the wrapped program on: past options, their values as far as they look like such, and settings. */
function behindWrapper(name: string, words: readonly string[]): readonly string[] {
  if (name === 'busybox' || name === 'toybox') return words;
  const at = words.findIndex(
    (word) =>
      !word.startsWith('-') &&
      !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word) &&
      !/^[\d.]+[smhd]?$/.test(word),
  );
  return at < 0 ? [] : words.slice(at);
}
