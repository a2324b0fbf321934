import * as z from 'zod';
import type { JsonObject } from '../../base/canonical-json.ts';
import { truncateText } from '../../base/truncate-text.ts';
import type { RunView } from '../../delegate/delegated-run.ts';
import { NO_RUN } from './output-schemas.ts';
import type { ToolAnswer } from './tool.ts';

/** Of the answer, in the line beside the structured result. Bytes. */
const MAX_LINE_BYTES = 200;

const jsonObject = z.record(z.string(), z.json());

/** What a client is told of a run. */
export function toRunResult(view: RunView): JsonObject {
  const { finalEvent } = view;
  return {
    ...toRunSummary(view),
    final_event: finalEvent === null ? null : jsonObject.parse(finalEvent),
  };
}

/** The same without the final event, which can be long: for lists. */
export function toRunSummary(view: RunView): JsonObject {
  const { exit, error, cleanupError, lastEvent } = view;
  const { final_event: _none, ...nothing } = NO_RUN;
  return {
    ...nothing,
    run_id: view.id,
    state: view.state,
    completed: view.settled,
    is_error: view.settled && error !== null,
    error: error === null ? null : { ...error },
    session_id: view.sessionId,
    exit_code: exit.kind === 'code' ? exit.code : null,
    signal: exit.kind === 'signal' ? exit.signal : null,
    cleanup_confirmed: view.cleanup === 'confirmed',
    cleanup_error: cleanupError === null ? null : { ...cleanupError },
    permission_mode: view.permissionMode,
    created_at: view.createdAt.toISOString(),
    settled_at: view.settledAt?.toISOString() ?? null,
    last_event:
      lastEvent === null ? null : { type: lastEvent.type, at: lastEvent.at.toISOString() },
    skipped_lines: view.skippedLines,
    cancel_requested: view.stopRequested,
  };
}

/** A run as the answer of a call that was about its outcome: a run that failed is a failed call. */
export function toRunAnswer(view: RunView): ToolAnswer {
  return {
    result: toRunResult(view),
    isError: view.settled && view.error !== null,
    line: describeRun(view),
  };
}

export function describeRun(view: RunView): string {
  if (view.error !== null) return `${view.error.code}: ${view.error.message}`;
  if (!view.settled) return `Run ${view.id} is ${view.state}.`;
  const [first = ''] = (view.finalEvent?.result ?? '').split('\n', 1);
  return `Run ${view.id} has completed${remark(view.finalEvent)}: ${truncateText(first, MAX_LINE_BYTES)}`;
}

/** What a reader of one line would otherwise not notice. */
function remark(event: RunView['finalEvent']): string {
  const denied = z.array(z.unknown()).safeParse(event?.['permission_denials']).data?.length ?? 0;
  if (denied > 0) return ` (${denied} uses of tools were denied)`;
  return event?.['num_turns'] === 0 ? ' (no model was asked)' : '';
}
