import { createTwoFilesPatch } from 'diff';
import * as z from 'zod';
import type { JsonObject } from '../../base/canonical-json.ts';
import { unreachable } from '../../base/unreachable.ts';
import { type ActionRecord, changesFile, listActions } from '../../ledger/actions.ts';
import { readBlob } from '../../ledger/blobs.ts';
import type { LedgerDatabase } from '../../ledger/database.ts';
import type { EventRecord } from '../../ledger/events.ts';
import { listRuns, type RunRecord } from '../../ledger/runs.ts';
import type { SessionRecord } from '../../ledger/sessions.ts';
import { listTurns, type TurnRecord } from '../../ledger/turns.ts';
import { SUBAGENT_GET, SUBAGENT_START, SUBAGENT_STOP } from '../../machine/subagent-rules.ts';

export type Mood = 'plain' | 'good' | 'bad' | 'quiet';

/** One line of a timeline, and the change behind it where there is one. */
export interface TimelineEntry {
  readonly at: string;
  readonly label: string;
  readonly text: string;
  readonly mood: Mood;
  /** A unified diff. */
  readonly diff?: string;
}

/** What the events of a session refer to. */
interface Context {
  readonly database: LedgerDatabase;
  readonly runs: readonly RunRecord[];
  readonly turns: readonly TurnRecord[];
  readonly actions: readonly ActionRecord[];
  readonly directory: string;
}

/** Texts in a diff above this are told by their size alone, in bytes. */
const MAX_DIFF_BYTES = 200_000;

/** The entries for `events`, in order. An event that tells a reader nothing new has none. */
export function describeEvents(
  database: LedgerDatabase,
  session: SessionRecord,
  events: readonly EventRecord[],
): TimelineEntry[] {
  const context: Context = {
    database,
    runs: listRuns(database, session.id),
    turns: listTurns(database, session.id),
    actions: listActions(database, session.id),
    directory: session.workingDirectory,
  };
  return events.flatMap((event) => {
    const entry = describe(context, event);
    return entry === undefined ? [] : [{ at: event.at, ...entry }];
  });
}

function describe(context: Context, event: EventRecord): Omit<TimelineEntry, 'at'> | undefined {
  const { data } = event;
  switch (event.kind) {
    case 'session_created':
      return quiet(
        'session',
        `created, ${data['capability_profile']}, in ${data['working_directory']}`,
      );
    case 'run_queued':
      return plain('task', context.runs.find((run) => run.id === data['run_id'])?.prompt ?? '');
    case 'runner_attached':
      return quiet('claude', 'starting');
    case 'runner_lost':
      return quiet('claude', `ended${typeof data['how'] === 'string' ? ` (${data['how']})` : ''}`);
    case 'run_started':
    case 'action_prepared':
      return undefined;
    case 'turn_presented':
      return quiet(`turn ${turnNumber(context, data)}`, describeTurn(context, data));
    case 'turn_abandoned':
      return quiet(`turn ${turnNumber(context, data)}`, 'abandoned: who asked is gone');
    case 'reply_accepted':
      return plain(`reply ${turnNumber(context, data)}`, describeReply(context, data));
    case 'action_applied':
      // What became of it has entries of its own.
      if (data['tool'] === SUBAGENT_START || data['tool'] === SUBAGENT_STOP) return undefined;
      if (data['tool'] === SUBAGENT_GET) return quiet('subagent', 'looked at by the client');
      return bySubagent(context, data, describeApplied(context, data));
    case 'action_failed':
    case 'action_refused':
      return bySubagent(context, data, bad(`✗ ${data['tool']}`, receiptText(context, data)));
    case 'action_unknown':
      return bad(
        `? ${data['tool']}`,
        `nobody can tell whether ${data['path']} was changed; "reins resolve" settles it`,
      );
    case 'action_resolved':
      return plain(
        `${data['tool']}`,
        `settled by a person as ${data['applied'] === true ? 'applied' : 'not applied'}`,
      );
    case 'undo_prepared':
      return undefined;
    case 'action_undone':
      return {
        label: `↶ ${data['tool']}`,
        text: `undone: ${data['path']} is as it was before`,
        mood: 'good',
      };
    case 'undo_failed':
      return bad(`↶ ${data['tool']}`, `could not be undone: ${data['path']} is unchanged`);
    case 'stray_call_refused':
      return bad('✗ refused', `a call of ${data['tool']} that nobody authorised`);
    case 'run_completed':
      return { label: 'completed', text: String(data['text']), mood: 'good' };
    case 'run_failed':
      return bad('failed', String(data['text']));
    case 'launch_failed':
      return bad('not started', String(data['message']));
    case 'lease_rotated':
      return plain('recovered', 'a client took the session over; the lease before is dead');
    case 'lease_expired':
      return bad('lease', 'ran out; the session can be recovered and continued');
    case 'stop_requested':
      return plain('stop', typeof data['reason'] === 'string' ? data['reason'] : 'asked for');
    case 'worktree_created':
      return plain(
        'worktree',
        `${data['path']}, taken from ${data['source']} at ${String(data['head']).slice(0, 12)}`,
      );
    case 'worktree_removed':
      return plain('worktree', `${data['path']} was removed`);
    case 'session_stopped':
      return plain('stopped', '');
    case 'subagent_started':
      return plain('subagent', describeSubagentStart(context, data));
    case 'subagent_launched':
      return undefined;
    case 'subagent_answered':
      return quiet(`subagent ${data['number']}`, describeSubagentAnswer(data));
    case 'subagent_stopping':
      return quiet('subagent', 'is told to end');
    case 'subagent_ended':
      return describeSubagentEnd(data);
    default:
      return unreachable(event.kind);
  }
}

/** Marks what a subagent did. */
function bySubagent(
  context: Context,
  data: JsonObject,
  entry: Omit<TimelineEntry, 'at'>,
): Omit<TimelineEntry, 'at'> {
  const action = context.actions.find(({ id }) => id === data['action_id']);
  return action?.subsessionId ? { ...entry, label: `↳ ${entry.label}` } : entry;
}

function describeApplied(context: Context, data: JsonObject): Omit<TimelineEntry, 'at'> {
  const action = context.actions.find(({ id }) => id === data['action_id']);
  const label = `✓ ${data['tool']}`;
  if (action?.tool === 'RunCommand') return { label, text: describeCommand(action), mood: 'good' };
  if (action?.path == null || !changesFile(action)) {
    return { label, text: describeLook(action), mood: 'good' };
  }
  const shown = relativeTo(context.directory, action.path);
  const diff = describeChange(context.database, action, shown);
  return {
    label,
    text: action.receipt?.text.split('\n')[0] ?? shown,
    mood: 'good',
    ...(diff ? { diff } : {}),
  };
}

function describeChange(
  database: LedgerDatabase,
  action: ActionRecord,
  name: string,
): string | undefined {
  const read = (hash: string | null): Buffer | undefined => {
    if (hash === null) return Buffer.alloc(0);
    const bytes = readBlob(database, hash);
    return bytes === undefined ? undefined : Buffer.from(bytes);
  };
  const before = read(action.beforeSha256);
  const after = read(action.afterSha256);
  if (before === undefined || after === undefined) return undefined;
  if (before.length + after.length > MAX_DIFF_BYTES) {
    return `${before.length} bytes before, ${after.length} bytes after`;
  }
  return createTwoFilesPatch(
    action.beforeSha256 === null ? '/dev/null' : `a/${name}`,
    `b/${name}`,
    before.toString('utf8'),
    after.toString('utf8'),
    undefined,
    undefined,
    { context: 2 },
  ).replace(/^=+\n/, '');
}

function describeTurn(context: Context, data: JsonObject): string {
  const turn = context.turns.find(({ id }) => id === data['turn_id']);
  const waits = turn?.state === 'pending' ? 'waits for the client' : 'asked the client';
  return turn?.purpose === 'compaction' ? `${waits} for a summary of the conversation` : waits;
}

function describeReply(context: Context, data: JsonObject): string {
  const turn = context.turns.find(({ id }) => id === data['turn_id']);
  const calls = context.actions.filter(
    ({ turnId, subsessionId }) => turnId === data['turn_id'] && subsessionId === null,
  );
  const text = turn?.replyText ?? '';
  return [text, calls.map(({ tool }) => tool).join(', ')].filter(Boolean).join(' → ');
}

function describeSubagentStart(context: Context, data: JsonObject): string {
  const task = context.actions.find(({ id }) => id === data['action_id'])?.input['task'];
  return `${data['model_class']} on ${data['model']}: ${typeof task === 'string' ? task : ''}`;
}

const answerSchema = z.object({
  text: z.string(),
  actions: z.array(z.object({ tool: z.string() })),
  unknown_tools: z.array(z.string()).default([]),
});

function describeSubagentAnswer(data: JsonObject): string {
  const answer = answerSchema.safeParse(data).data;
  const known = answer?.actions.map(({ tool }) => tool) ?? [];
  const unknown = answer?.unknown_tools.map((name) => `${name} (there is no such tool)`) ?? [];
  return [answer?.text, [...known, ...unknown].join(', ')].filter(Boolean).join(' → ');
}

function describeSubagentEnd(data: JsonObject): Omit<TimelineEntry, 'at'> {
  const why = z.object({ message: z.string() }).safeParse(data['outcome']).data?.message;
  const used = `${data['turns']} turns, ${data['input_tokens']} tokens in and ${data['output_tokens']} out`;
  return {
    label: 'subagent',
    text: `${data['state']} after ${used}${why === undefined ? '' : `. ${why}`}`,
    mood: data['state'] === 'completed' ? 'good' : 'bad',
  };
}

/** What was asked, and how much came back. */
function describeLook(action: ActionRecord | undefined): string {
  if (action === undefined) return '';
  const asked = Object.entries(action.input)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
  const lines = (action.receipt?.text ?? '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('[')).length;
  return `${asked} → ${lines} ${lines === 1 ? 'line' : 'lines'}`.trim();
}

/** The argument list, and how it ended. */
function describeCommand(action: ActionRecord): string {
  const argv = Array.isArray(action.input['argv']) ? action.input['argv'] : [];
  const how = action.receipt?.text.split(' after ')[0] ?? '';
  return `${argv.map((word) => quoteWord(String(word))).join(' ')} → ${how.toLowerCase()}`;
}

function quoteWord(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word);
}

function receiptText(context: Context, data: JsonObject): string {
  const action = context.actions.find(({ id }) => id === data['action_id']);
  return action?.receipt?.text ?? String(data['code']);
}

function turnNumber(context: Context, data: JsonObject): string {
  return String(context.turns.find(({ id }) => id === data['turn_id'])?.sequence ?? '?');
}

function relativeTo(directory: string, path: string): string {
  return path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : path;
}

const plain = (label: string, text: string) => ({ label, text, mood: 'plain' as const });
const quiet = (label: string, text: string) => ({ label, text, mood: 'quiet' as const });
const bad = (label: string, text: string) => ({ label, text, mood: 'bad' as const });
