import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalJson, type JsonObject } from '../../../../src/base/canonical-json.ts';
import type { SessionId } from '../../../../src/base/ids.ts';
import { sha256 } from '../../../../src/base/sha256.ts';
import { createPathProtection } from '../../../../src/confine/path-protection.ts';
import {
  type ActionRecord,
  findActionByToolUse,
  findLastSeenContent,
  type NewAction,
  type Receipt,
} from '../../../../src/ledger/actions.ts';
import type { LedgerDatabase } from '../../../../src/ledger/database.ts';
import { type EventKind, listEvents } from '../../../../src/ledger/events.ts';
import { openLedger } from '../../../../src/ledger/open-ledger.ts';
import { findLatestRun } from '../../../../src/ledger/runs.ts';
import type { CapabilityProfile } from '../../../../src/ledger/sessions.ts';
import { acceptReply } from '../../../../src/session/accept-reply.ts';
import { createSession } from '../../../../src/session/create-session.ts';
import { presentTurn } from '../../../../src/session/present-turn.ts';
import { startQueuedRun } from '../../../../src/session/start-queued-run.ts';
import { createExecutor, type Executor } from '../../../../src/tools/executor.ts';
import type { Tool, ToolContext } from '../../../../src/tools/tool.ts';
import { toolsFor } from '../../../../src/tools/tool-set.ts';
import { processesOf } from '../../../support/test-home.ts';

/** Places of one test on disk. All are real paths: none passes through a symbolic link. */
export interface Places {
  readonly root: string;
  /** Working directory and write root. */
  readonly project: string;
  /** Beside the project: readable and never to be changed. */
  readonly outside: string;
  /** The user's home, with nothing in it. */
  readonly home: string;
  readonly state: string;
}

/** A session with a real ledger, as far as tools know one. */
export interface ToolSession extends Places {
  readonly database: LedgerDatabase;
  readonly id: SessionId;
  readonly context: ToolContext;
  readonly executor: Executor;
  /** Another executor on the same ledger, as after a restart, or with tools of the test's own. */
  createExecutor(tools?: readonly Tool[]): Executor;
  /** Authorises the calls of one reply, in order, and carries out none of them. */
  authorize(...calls: readonly Call[]): NewAction[];
  /** Carries out an authorised action. */
  run(action: NewAction, executor?: Executor): Promise<Receipt>;
  /** Authorises one call and carries it out. */
  call(tool: string, input: JsonObject): Promise<Receipt>;
  action(action: NewAction): ActionRecord;
  eventsOf(kind: EventKind): JsonObject[];
  /** Removes everything. Throws when a temporary file, a process or a bad state of the ledger was left. */
  dispose(): void;
}

export interface Call {
  readonly tool: string;
  readonly input: JsonObject;
}

export function makePlaces(): Places {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'reins-tools-')));
  // Readable for everybody, so that tests which give up the rights of root can reach what they made.
  chmodSync(root, 0o755);
  const places: Places = {
    root,
    project: join(root, 'project'),
    outside: join(root, 'outside'),
    home: join(root, 'home'),
    state: join(root, 'state'),
  };
  for (const place of [places.project, places.outside, places.home, places.state]) mkdirSync(place);
  return places;
}

export function openToolSession(
  options: {
    readonly profile?: CapabilityProfile;
    /** What the protection is told, when it is not the real path. */
    readonly home?: string;
    readonly state?: string;
    readonly places?: Places;
  } = {},
): ToolSession {
  const places = options.places ?? makePlaces();
  const profile = options.profile ?? 'direct_write';
  const database = openLedger(join(places.state, 'state.db'));
  const now = (): Date => new Date();
  const { sessionId: id, leaseId } = createSession(
    database,
    {
      prompt: 'Test the tools.',
      workingDirectory: places.project,
      idempotencyKey: randomUUID(),
      label: null,
      profile,
      subagentPolicy: 'none',
      skills: [],
    },
    { workingDirectory: places.project, worktree: null, skills: [] },
    3_600,
    now(),
  );
  startQueuedRun(database, id, now());
  const runId = required(findLatestRun(database, id)).id;

  const context: ToolContext = {
    workingDirectory: places.project,
    writeRoot: profile === 'read_only' ? null : places.project,
    protection: createPathProtection(
      options.home ?? places.home,
      options.state ?? places.state,
      process.platform,
      { closed: [], opened: [] },
    ),
    commands: null,
    subagents: null,
    lastSeen: (path) => findLastSeenContent(database, id, null, path),
  };
  const newExecutor = (tools: readonly Tool[] = toolsFor(profile)): Executor =>
    createExecutor({
      database,
      session: id,
      subsession: null,
      tools,
      context,
      clock: now,
      onChange() {},
    });
  const executor = newExecutor();

  function authorize(...calls: readonly Call[]): NewAction[] {
    const turn = presentTurn(
      database,
      id,
      { runId, purpose: 'step', requestSha256: sha256(''), messages: [] },
      now(),
    );
    const accepted = acceptReply(
      database,
      {
        sessionId: id,
        leaseId,
        turnId: turn.id,
        replyId: randomUUID(),
        text: '',
        calls,
      },
      now(),
    );
    if (accepted === null) throw new Error('the reply was taken for a repetition');
    return [...accepted.actions];
  }

  const run: ToolSession['run'] = (action, by = executor) =>
    by.execute({ tool: action.tool, input: action.input, toolUseId: action.toolUseId });

  return {
    ...places,
    database,
    id,
    context,
    executor,
    createExecutor: newExecutor,
    authorize,
    run,
    async call(tool, input) {
      const action = required(authorize({ tool, input })[0]);
      const receipt = await run(action);
      const stored = findActionByToolUse(database, id, action.toolUseId)?.receipt;
      if (canonicalJson(stored ?? null) !== canonicalJson(receipt)) {
        throw new Error('the ledger holds another receipt than the caller got');
      }
      return receipt;
    },
    action(action) {
      return required(findActionByToolUse(database, id, action.toolUseId));
    },
    eventsOf: (kind) =>
      listEvents(database, id)
        .filter((event) => event.kind === kind)
        .map((event) => event.data),
    dispose() {
      database.close();
      const left = temporaryFiles(Buffer.from(places.root).toString('latin1'));
      const processes = processesOf(places.root);
      for (const pid of processes) process.kill(pid, 'SIGKILL');
      rmSync(places.root, { recursive: true, force: true });
      if (left.length > 0) throw new Error(`temporary files were left: ${left.join(', ')}`);
      if (processes.length > 0) throw new Error(`processes were left: ${processes.join(', ')}`);
    },
  };
}

/** Files that a change makes for a moment. They are found by their name alone, wherever they lie. */
export function temporaryFiles(root: string): string[] {
  return readdirSync(Buffer.from(root, 'latin1'), {
    withFileTypes: true,
    encoding: 'buffer',
  }).flatMap((entry) => {
    const path = `${root}/${entry.name.toString('latin1')}`;
    if (entry.isDirectory()) return temporaryFiles(path);
    return entry.name.toString('latin1').startsWith('.reins-') ? [path] : [];
  });
}

export function required<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined)
    throw new Error('a value that has to exist is missing');
  return value;
}
