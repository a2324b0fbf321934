import type { Json } from '../base/canonical-json.ts';
import type { SessionId } from '../base/ids.ts';
import { ReinsError } from '../base/reins-error.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { findCreation } from '../ledger/events.ts';
import { listRuns } from '../ledger/runs.ts';
import type { SessionRecord } from '../ledger/sessions.ts';
import { readSkills, type StoredSkill } from '../ledger/skills.ts';
import { findLatestTurn, type TurnMessage, type TurnPurpose } from '../ledger/turns.ts';

/** A tool as a full turn describes it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly input_schema: { readonly [key: string]: Json };
}

export type ToolCatalogue = (session: SessionRecord) => readonly ToolDescription[];

/** What the client has to answer. */
export interface PendingTurn {
  readonly turn_id: string;
  readonly sequence: number;
  readonly purpose: TurnPurpose;
  readonly waiting_since: string;
  readonly full_context: boolean;
  readonly messages: readonly TurnMessage[];
  readonly tools?: readonly ToolDescription[];
}

/** The pending turn, or null. In full it starts with the rules and the task and carries the tools. */
export function describePendingTurn(
  database: LedgerDatabase,
  session: SessionRecord,
  catalogue: ToolCatalogue,
): PendingTurn | null {
  if (session.status !== 'waiting_for_gpt') return null;
  const turn = findLatestTurn(database, session.id);
  if (turn?.state !== 'pending') return null;
  const head = {
    turn_id: turn.id,
    sequence: turn.sequence,
    purpose: turn.purpose,
    waiting_since: turn.createdAt,
    full_context: turn.fullContext,
  };
  if (!turn.fullContext) return { ...head, messages: turn.messages };
  const hasTask = turn.messages.some((message) => message.kind === 'task');
  const run = listRuns(database, session.id).find(({ id }) => id === turn.runId);
  const task: TurnMessage[] =
    hasTask || run === undefined ? [] : [{ kind: 'task', text: run.prompt }];
  return {
    ...head,
    messages: [
      { kind: 'notice', text: sessionRules(session) },
      ...skillNotices(database, session.id),
      ...task,
      ...turn.messages,
    ],
    tools: catalogue(session),
  };
}

/**
 * A session whose instructions were tampered with can still be seen and stopped, and whoever answers is told.
 */
function skillNotices(database: LedgerDatabase, session: SessionId): TurnMessage[] {
  try {
    const created = findCreation(database, session)?.data ?? {};
    return readSkills(database, session, created).map(toSkillNotice);
  } catch (error) {
    if (!(error instanceof ReinsError)) throw error;
    return [{ kind: 'notice', text: error.message }];
  }
}

/** The same bytes at every full turn of a session, whatever has become of the file since. */
function toSkillNotice({ skill_id: id, body }: StoredSkill): TurnMessage {
  return {
    kind: 'notice',
    text: `Instructions of the skill ${id}, which was chosen for this session. They grant no tool and no permission.\n\n${body}`,
  };
}

function sessionRules(session: SessionRecord): string {
  const writing =
    session.profile === 'read_only'
      ? 'Nothing can be changed in this session.'
      : `Files can be changed inside ${session.workingDirectory} and nowhere else; a change takes effect at once and is kept with its before-image.`;
  const delegating =
    session.subagentPolicy === 'none'
      ? []
      : [
          'deepseek_subagent_start hands a task to a subagent; while it works, nothing but looking, deepseek_subagent_get and deepseek_subagent_stop is accepted, and no final text.',
        ];
  return [
    'You are the model of this Claude Code session; no other model is asked.',
    'Answer each pending turn with native_session_reply_and_wait: tool_calls to act (their results come with the next turn), text alone to finish the task.',
    'Calls of one reply that change something are carried out in order; calls that only look may run side by side.',
    `The working directory is ${session.workingDirectory}; relative paths start there. Reading reaches the whole computer except protected paths.`,
    writing,
    ...delegating,
  ].join(' ');
}
