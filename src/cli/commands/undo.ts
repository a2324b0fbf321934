import { createTwoFilesPatch } from 'diff';
import { systemClock } from '../../base/clock.ts';
import { escapeText } from '../../base/escape-text.ts';
import { ReinsError } from '../../base/reins-error.ts';
import { openStateDirectory } from '../../base/state-directory.ts';
import { type ActionRecord, changesFile, listActions } from '../../ledger/actions.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import { type SessionRecord, setSessionUndoer } from '../../ledger/sessions.ts';
import { identifyProcess, isAlive } from '../../process/process-identity.ts';
import { claimUndo } from '../../session/claim-undo.ts';
import { createToolContext } from '../../tools/tool-context.ts';
import { planUndo, type UndoPlan, undoAction } from '../../tools/undo-action.ts';
import type { Environment } from '../environment.ts';
import { findSessionByPrefix } from '../find-session.ts';
import { toJsonText } from '../to-json-text.ts';

/** `reins undo SESSION [ACTION...]`: all changes of the session, or the ones named, newest first. */
export async function runUndo(
  environment: Environment,
  sessionId: string,
  actionIds: readonly string[],
  options: { readonly dryRun?: true; readonly json?: true },
): Promise<void> {
  const state = openStateDirectory(environment.stateDirectory);
  const database = openLedger(state.database);
  const session = findSessionByPrefix(database, sessionId);
  const context = createToolContext(
    database,
    session,
    environment.userHome,
    state.root,
    environment.protection,
  );
  const undo = { database, session: session.id, context, clock: systemClock };
  const self = identifyProcess(process.pid);
  if (self === undefined) throw new Error('this process cannot be identified');
  claimUndo(database, session.id, self, isAlive);
  let plans: UndoPlan[];
  try {
    plans = await planAll(
      undo,
      selectActions(listActions(database, session.id), session, actionIds),
    );
    if (options.dryRun !== true) for (const plan of plans) await undoAction(undo, plan);
  } finally {
    setSessionUndoer(database, session.id, null);
  }
  process.stdout.write(
    options.json
      ? toJsonText(toJson(session, plans, options.dryRun === true))
      : describe(session, plans, options.dryRun === true),
  );
}

/** Plans every step before the first is taken: when one cannot be undone, none is. */
async function planAll(
  undo: Parameters<typeof planUndo>[0],
  actions: readonly ActionRecord[],
): Promise<UndoPlan[]> {
  const plans: UndoPlan[] = [];
  const pending = new Map<string, string | null>();
  for (const action of actions) {
    const plan = await planUndo(undo, action, pending);
    pending.set(plan.path, action.beforeSha256);
    plans.push(plan);
  }
  return plans;
}

function selectActions(
  actions: readonly ActionRecord[],
  session: SessionRecord,
  ids: readonly string[],
): ActionRecord[] {
  const newestFirst = actions.toReversed();
  if (ids.length === 0) {
    return newestFirst.filter((action) => action.state === 'applied' && changesFile(action));
  }
  for (const id of ids) {
    if (actions.some((action) => action.id === id)) continue;
    throw new ReinsError(
      'action_unknown_id',
      `Session ${session.id} has no action ${escapeText(id)}; "reins show ${session.id}" lists its changes.`,
    );
  }
  return newestFirst.filter((action) => ids.includes(action.id));
}

function toJson(session: SessionRecord, plans: readonly UndoPlan[], dryRun: boolean): object {
  return {
    native_session_id: session.id,
    dry_run: dryRun,
    undone: plans.map((plan) => ({
      action_id: plan.action.id,
      path: plan.path,
      restored_sha256: plan.action.beforeSha256,
    })),
  };
}

function describe(session: SessionRecord, plans: readonly UndoPlan[], dryRun: boolean): string {
  if (plans.length === 0) return `Session ${session.id} has no change left to undo.\n`;
  const done = dryRun ? 'would be undone; nothing was changed' : 'undone, newest first';
  const blocks = plans.map((plan) => `${plan.action.id}\n${escapeText(diffOf(plan), true)}`);
  const changes = plans.length === 1 ? '1 change' : `${plans.length} changes`;
  return `${blocks.join('\n')}\n${changes} ${done}.\n`;
}

function diffOf(plan: UndoPlan): string {
  return createTwoFilesPatch(
    plan.path,
    plan.before === null ? '/dev/null' : plan.path,
    plan.after.toString('utf8'),
    plan.before?.bytes.toString('utf8') ?? '',
    undefined,
    undefined,
    { context: 2 },
  ).replace(/^=+\n/, '');
}
