import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  mintActionId,
  mintClaudeSessionId,
  mintSubsessionId,
  mintToolUseId,
  type SubsessionId,
} from '../../../src/base/ids.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import {
  type ActionRecord,
  endAction,
  findLastSeenContent,
  listActions,
  prepareAction,
} from '../../../src/ledger/actions.ts';
import { storeBlob } from '../../../src/ledger/blobs.ts';
import { deleteSession } from '../../../src/ledger/prune.ts';
import { findLatestRun } from '../../../src/ledger/runs.ts';
import { findActiveSubsession, findSubsession } from '../../../src/ledger/subsessions.ts';
import { verifySession } from '../../../src/ledger/verify.ts';
import { acceptReply } from '../../../src/session/accept-reply.ts';
import { acceptSubagentAnswer } from '../../../src/session/accept-subagent-answer.ts';
import type { ToolCall } from '../../../src/session/check-reply.ts';
import { endSubagent, requestSubagentStop } from '../../../src/session/end-subagent.ts';
import { finishRun } from '../../../src/session/finish-run.ts';
import { presentTurn } from '../../../src/session/present-turn.ts';
import { recordSubagentLaunch, recordSubagentStart } from '../../../src/session/start-subagent.ts';
import { createLedgerSession, type LedgerSession } from '../../support/ledger-session.ts';

let directory: string;
let session: LedgerSession;
const NOW = new Date();
const AT = NOW.toISOString();
const START: ToolCall = {
  tool: 'deepseek_subagent_start',
  input: { task: 'x', model_class: 'opus' },
};
const LOOK: ToolCall = { tool: 'Read', input: { file_path: 'a' } };
const DONE = { text: 'ok', is_error: false, truncated: false, code: null };

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reins-unit-'));
  session = createLedgerSession(directory, NOW);
});

afterEach(() => {
  session.database.close();
  rmSync(directory, { recursive: true, force: true });
});

let replies = 0;
function reply(turnId: string, calls: readonly ToolCall[], text = '') {
  replies += 1;
  return acceptReply(
    session.database,
    {
      sessionId: session.id,
      leaseId: session.leaseId,
      turnId,
      replyId: `r${replies}`,
      text,
      calls,
    },
    NOW,
  );
}

/** A subagent that runs, started as a reply would. */
function startSubagent(): SubsessionId {
  const accepted = reply(session.present(), [START]);
  const action = listActions(session.database, session.id).find(
    ({ id }) => id === accepted?.actions[0]?.id,
  );
  if (action === undefined) throw new Error('no action');
  const id = mintSubsessionId();
  session.database.transaction(() => {
    endAction(session.database, action, 'applied', DONE, AT);
    record(id, action);
  });
  recordSubagentLaunch(session.database, session.id, id, undefined, NOW);
  return id;
}

function record(id: SubsessionId, action: ActionRecord): void {
  recordSubagentStart(
    session.database,
    {
      id,
      sessionId: session.id,
      actionId: action.id,
      claudeSessionId: mintClaudeSessionId(),
      modelClass: 'opus',
      model: 'deepseek-flash',
      task: 'the \0 task',
      maxTurns: 3,
      deadline: AT,
    },
    AT,
  );
}

const answer = (id: SubsessionId, ...tools: readonly string[]): boolean =>
  acceptSubagentAnswer(
    session.database,
    session.id,
    id,
    {
      text: tools.length === 0 ? 'said' : '',
      actions: tools.map((tool) => ({
        id: mintActionId(),
        toolUseId: mintToolUseId(),
        tool,
        input: { file_path: 'a' },
      })),
      unknownTools: [],
      inputTokens: 3,
      outputTokens: 2,
    },
    NOW,
  );

const ownActions = (id: SubsessionId): ActionRecord[] =>
  listActions(session.database, session.id).filter(({ subsessionId }) => subsessionId === id);

const stopped = { code: 'stopped_by_client', message: 'stopped.' } as const;

test('N31 N34 a second one that has not ended cannot be recorded, by whatever way', () => {
  startSubagent();
  const [action] = listActions(session.database, session.id);
  expect(() => record(mintSubsessionId(), action as ActionRecord)).toThrow(
    expect.objectContaining({ code: 'storage_failed' }),
  );
});

test('N31 its calls belong to the turn that started it, in order, and are counted', () => {
  const id = startSubagent();
  expect(answer(id, 'Read')).toBe(true);
  expect(answer(id, 'Edit', 'Write')).toBe(true);
  expect(answer(id)).toBe(true);
  expect(ownActions(id).map(({ tool, ordinal }) => `${ordinal} ${tool}`)).toEqual([
    '1 Read',
    '2 Edit',
    '3 Write',
  ]);
  expect(findSubsession(session.database, session.id, id)).toMatchObject({
    turns: 3,
    inputTokens: 9,
    outputTokens: 6,
    lastText: 'said',
    task: 'the \0 task',
  });
  expect(verifySession(session.database, session.id)).toEqual([]);
});

test('N34 once it is to end no answer is taken, and calls that are left over are refused with its end', () => {
  const id = startSubagent();
  answer(id, 'Write');
  requestSubagentStop(session.database, session.id, id, NOW);
  expect(answer(id, 'Write')).toBe(false);
  expect(ownActions(id).map(({ state }) => state)).toEqual(['authorized']);
  // What it came to afterwards does not count: the stop was first.
  endSubagent(session.database, session.id, id, { event: 'ended', outcome: stopped }, NOW);
  expect(ownActions(id).map(({ state }) => state)).toEqual(['refused']);
  expect(findSubsession(session.database, session.id, id)).toMatchObject({
    state: 'stopped',
    outcome: stopped,
    endedAt: AT,
  });
  expect(answer(id, 'Write')).toBe(false);
  expect(verifySession(session.database, session.id)).toEqual([]);
});

test('N21 N32 what it has under way is no doubt for its session while it works, and is one when it is gone', () => {
  const id = startSubagent();
  answer(id, 'Write');
  const [action] = ownActions(id);
  if (action === undefined) throw new Error('no action');
  const after = storeBlob(session.database, Buffer.from('x'), AT);
  prepareAction(
    session.database,
    action,
    { path: join(directory, 'a'), beforeSha256: null, beforeMode: null, afterSha256: after },
    AT,
  );
  expect(reply(session.present(), [LOOK])).toBeTruthy();
  endSubagent(session.database, session.id, id, { event: 'failed', outcome: stopped }, NOW);
  const turn = session.present();
  expect(() => reply(turn, [LOOK])).toThrow(expect.objectContaining({ code: 'recovery_required' }));
});

test('N32 text alone is no reply while it works, but for a summary of the conversation', () => {
  startSubagent();
  const turn = session.present();
  expect(() => reply(turn, [], 'over')).toThrow(
    expect.objectContaining({ code: 'reply_not_allowed' }),
  );
  const run = findLatestRun(session.database, session.id);
  if (run === undefined) throw new Error('no run');
  const summary = presentTurn(
    session.database,
    session.id,
    {
      runId: run.id,
      purpose: 'compaction',
      requestSha256: sha256('summary'),
      messages: [],
    },
    NOW,
  );
  expect(reply(summary.id, [], 'In short: we wait.')).toBeTruthy();
});

test('N34 whatever ends the run without ending it first loses it with its runner', () => {
  const id = startSubagent();
  answer(id, 'Write');
  finishRun(session.database, session.id, { isError: true, text: 'x' }, NOW);
  expect(findActiveSubsession(session.database, session.id)).toBeUndefined();
  expect(findSubsession(session.database, session.id, id)).toMatchObject({
    state: 'failed',
    outcome: { code: 'runner_lost' },
  });
  expect(ownActions(id).map(({ state }) => state)).toEqual(['refused']);
  expect(verifySession(session.database, session.id)).toEqual([]);
  expect(deleteSession(session.database, session.id)).toBe(true);
});

test('N20 neither has seen what the other wrote', () => {
  const id = startSubagent();
  answer(id, 'Read');
  const [action] = ownActions(id);
  if (action === undefined) throw new Error('no action');
  const seen = { path: '/a', sha256: sha256('a') };
  endAction(session.database, action, 'applied', DONE, AT, seen);
  const find = (who: SubsessionId | null) =>
    findLastSeenContent(session.database, session.id, who, '/a');
  expect(find(id)).toBe(sha256('a'));
  expect(find(null)).toBeUndefined();
  expect(find(mintSubsessionId())).toBeUndefined();
});
