import { ReinsError, type ToolErrorCode } from '../../base/reins-error.ts';
import { MAX_PROCESSES } from '../../confine/command-request.ts';
import type { WriteMode } from '../../confine/confinement.ts';
import { toExitSignal } from '../../process/exit-signal.ts';
import type { BoundedRun } from '../../process/run-bounded.ts';
import { showPath } from '../show-path.ts';
import type { CommandResult } from '../tool.ts';
import { formatOutput } from './format-run.ts';
import type { StopCause } from './supervise-run.ts';

/** The longest that a command may run. */
export const MAX_COMMAND_SECONDS = 900;
/** Hidden names that an answer lists. */
const MAX_LISTED = 10;

/** What the sandbox's own programs said names places that are nobody's business, so it goes to the log alone. */
export function notStarted(result: BoundedRun): ReinsError {
  return new ReinsError(
    'confinement_unavailable',
    'The sandbox of the command could not be set up, so it was not run; "reins doctor" on the computer shows why.',
    { cause: new Error(result.stderr.head.toString('utf8').slice(0, 2_000)) },
  );
}

/** What the model reads of a run. */
export function describeRun(
  result: BoundedRun,
  cause: StopCause,
  writes: WriteMode,
  cwd: string,
  timeoutMs: number,
  hidden: readonly string[],
): CommandResult {
  const failure = toFailure(result, cause);
  const signal = toExitSignal(result.exitCode);
  const how =
    failure === undefined
      ? `Exit code ${result.exitCode}${signal === undefined ? '' : ` (${signal})`}`
      : `${failure}: ${describeFailure(failure, timeoutMs)}`;
  const kept =
    writes === 'throw_away'
      ? 'What it wrote was thrown away.'
      : 'It could write to /tmp alone, since this computer allows no temporary layer over directories.';
  const listed = hidden.slice(0, MAX_LISTED).map(showPath).join(', ');
  const more = hidden.length > MAX_LISTED ? ` and ${hidden.length - MAX_LISTED} more` : '';
  const notes = hidden.length === 0 ? '' : ` Hidden from it as protected: ${listed}${more}.`;
  const output = formatOutput(result);
  const head = `${how} after ${(result.durationMs / 1000).toFixed(2)} s in ${showPath(cwd)}; stdout ${result.stdout.totalBytes} bytes, stderr ${result.stderr.totalBytes} bytes. ${kept}${notes}`;
  return {
    text: output.text === '' ? head : `${head}\n${output.text}`,
    truncated: output.truncated,
    failure,
  };
}

function toFailure(result: BoundedRun, cause: StopCause): ToolErrorCode | undefined {
  switch (result.ended) {
    case 'timeout':
      return 'command_timed_out';
    case 'stopped':
      return cause ?? 'command_stopped';
    case 'not_started':
    case 'exit':
      return undefined;
  }
}

function describeFailure(failure: ToolErrorCode, timeoutMs: number): string {
  switch (failure) {
    case 'command_timed_out':
      return `all its processes were ended at the limit of ${timeoutMs / 1000} s (timeout_seconds takes up to ${MAX_COMMAND_SECONDS}),`;
    case 'command_too_many_processes':
      return `it had more than ${MAX_PROCESSES} processes and was ended`;
    case 'protected_path':
      return 'a protected place was moved on the computer while it ran, so it was ended; run it again';
    default:
      return 'it was ended because the session is stopping';
  }
}
