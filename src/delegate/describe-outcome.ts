import { escapeText } from '../base/escape-text.ts';
import { truncateText } from '../base/truncate-text.ts';
import { CLI_TREE } from '../claude/cli-tree.ts';
import type { Outcome, OutcomeCode, RunCause, RunExit } from './decide-outcome.ts';
import { MAX_FINAL_EVENT_BYTES } from './result-evidence.ts';
import type { RunStream } from './run-stream.ts';
import type { CleanupReport, SupervisionEnd } from './supervision.ts';

export interface CodedError {
  readonly code: string;
  readonly message: string;
}

/** What a sentence can draw on. */
export interface OutcomeFacts {
  readonly cause: RunCause | null;
  readonly end: SupervisionEnd;
  readonly stream: RunStream;
  /** The end of what Claude Code printed as errors. */
  readonly stderr: string;
  readonly cleanupError: CodedError | null;
  /** The native session id, where Claude Code saves the conversation; null where it does not, or has named none yet. */
  readonly savedSession: string | null;
}

/** A native error text is quoted up to this many bytes; the whole of it is in the final event. */
const MAX_QUOTE_BYTES = 600;
const CLAUDE = `Claude Code ${CLI_TREE.executable_version}`;

/** One sentence for the calling model: what happened, and what can be done. Null for a success. */
export function describeOutcome(
  { outcome, at }: { readonly outcome: Outcome; readonly at: Date },
  timeoutMs: number,
  facts: OutcomeFacts,
): CodedError | null {
  if (outcome.code === null) return null;
  return { code: outcome.code, message: toSentence(outcome.code, at, timeoutMs, facts) };
}

/** What is not known to have ended. Null when everything has. */
export function describeCleanup(cleanup: CleanupReport): CodedError | null {
  if (cleanup.kind === 'clean') return null;
  const { survivors } = cleanup;
  const living = survivors
    .map(({ pid, command }) => `${escapeText(command)} (process ${pid})`)
    .join(', ');
  const named = survivors.length === 0 ? '' : `; still running: ${living}`;
  const how =
    cleanup.kind === 'survivors'
      ? 'Not every process of this run could be ended'
      : 'The supervisor of this run ended without its report; the processes of the run that were found were ended from outside, and that there are no others is not known';
  return { code: 'cleanup_unconfirmed', message: `${how}${named}.` };
}

function toSentence(
  code: OutcomeCode,
  at: Date,
  timeoutMs: number,
  { cause, end, stream, stderr, cleanupError, savedSession }: OutcomeFacts,
): string {
  const resume =
    savedSession === null
      ? ''
      : ` What its conversation had come to can be resumed with resume_session_id ${savedSession}.`;
  const last = describeLast(stream, at);
  const said = stderr === '' ? '' : `, saying: ${escapeText(stderr)}`;
  const exit = describeExit(end.exit);
  switch (code) {
    case 'timed_out':
      return stream.evidence().finalEvent === null
        ? `The run did not end within ${timeoutMs / 1000} s (timeout_seconds) and was ended; ${last}. A longer timeout_seconds gives it more time.${resume}`
        : `The result is in final_event, but the process did not exit within ${timeoutMs / 1000} s (timeout_seconds) and was ended; ${last}.`;
    case 'cancelled':
      return `The run was cancelled; ${last}.${resume}`;
    case 'adapter_closing':
      return 'The client closed the connection, and the run was ended with it.';
    case 'claude_not_started':
      return `${CLAUDE} could not be started: ${cause?.kind === 'launch_failed' ? cause.message : 'no reason is known'}.`;
    case 'claude_not_found':
    case 'claude_version_unsupported':
    case 'claude_not_executable':
    case 'internal':
      return cause?.kind === 'launch_failed' ? cause.message : 'The adapter failed.';
    case 'result_duplicate':
      return `${CLAUDE} printed more than one result; the first valid one is in final_event, and none of them is taken for the outcome.`;
    case 'result_malformed':
      return `${CLAUDE} printed a result without its outcome, session or text, and ${exit}${said}.`;
    case 'result_too_large':
      return `The result of ${CLAUDE} is longer than the ${MAX_FINAL_EVENT_BYTES} bytes that are kept and is not passed on in part; ask for a shorter answer, or for one in a file.`;
    case 'result_truncated':
      return `The output of ${CLAUDE} stops within an event, and it ${exit}${said}.`;
    case 'native_error':
      return `${CLAUDE} ended the run with an error: ${describeNativeError(stream)}`;
    case 'supervisor_lost':
      return 'The supervisor of this run ended before it; what became of the run is not known.';
    case 'claude_failed':
      return `${CLAUDE} ${exit}${stream.evidence().finalEvent === null ? ' without a result' : ' after its result, which is in final_event'}${said}; ${last}.`;
    case 'result_missing':
      return `${CLAUDE} ${exit} without a result${said}; ${last}.`;
    case 'cleanup_unconfirmed':
      return cleanupError?.message ?? 'Not every process of this run is known to have ended.';
  }
}

function describeLast(stream: RunStream, at: Date): string {
  const last = stream.lastEvent();
  if (last === null) return 'it had printed no event';
  const seconds = ((at.getTime() - last.at.getTime()) / 1000).toFixed(1);
  return `its last event was "${escapeText(last.type)}", ${seconds} s before`;
}

function describeExit(exit: RunExit): string {
  switch (exit.kind) {
    case 'code':
      return `exited with code ${exit.code}`;
    case 'signal':
      return `was ended by ${exit.signal}`;
    case 'unknown':
      return 'ended in a way that nobody saw';
  }
}

function describeNativeError(stream: RunStream): string {
  const event = stream.evidence().finalEvent;
  const errors: unknown = event?.['errors'];
  const text =
    typeof event?.result === 'string' && event.result !== ''
      ? event.result
      : Array.isArray(errors)
        ? errors.filter((error) => typeof error === 'string').join('; ')
        : '';
  const quoted = escapeText(truncateText(text, MAX_QUOTE_BYTES));
  const signIn =
    event?.['api_error_status'] === 401 ? ' Sign in with "claude" on the computer.' : '';
  const subtype = event?.subtype === 'success' ? '' : ` (${event?.subtype ?? 'unknown'})`;
  return `${quoted}${subtype}.${signIn}`.trim();
}
