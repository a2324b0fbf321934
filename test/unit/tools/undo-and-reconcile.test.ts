import type * as fs from 'node:fs';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { endAction, type NewAction } from '../../../src/ledger/actions.ts';
import { reconcileActions } from '../../../src/tools/reconcile-actions.ts';
import { planUndo, undoAction } from '../../../src/tools/undo-action.ts';
import { interposing } from './support/interposed-fs.ts';
import {
  type Call,
  openToolSession,
  required,
  type ToolSession,
  temporaryFiles,
} from './support/tool-session.ts';

vi.mock('node:fs/promises', async (importOriginal) => {
  const { interposed } = await import('./support/interposed-fs.ts');
  return interposed(await importOriginal<typeof fs.promises>());
});

const BEFORE = 'before\n';
const AFTER = 'after\n';

let session: ToolSession;

beforeEach(() => {
  session = openToolSession();
});

afterEach(() => {
  session.dispose();
});

const contentOf = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, 'utf8') : undefined;

const options = () => ({
  database: session.database,
  session: session.id,
  context: session.context,
  clock: () => new Date(),
});

const reconcile = (): Promise<void> =>
  reconcileActions({ ...options(), redo: true, onChange() {} });

const undo = async (action: NewAction): Promise<void> => {
  await undoAction(options(), await planUndo(options(), session.action(action), new Map()));
};

interface Subject {
  readonly path: string;
  readonly directory: string;
  readonly action: NewAction;
}

function authorize(name: string, before: string | undefined): Subject {
  const directory = join(session.project, name);
  const path = join(directory, 'file');
  mkdirSync(directory);
  if (before !== undefined) writeFileSync(path, before);
  const call: Call =
    before === undefined
      ? { tool: 'Write', input: { file_path: path, content: AFTER } }
      : { tool: 'Edit', input: { file_path: path, old_string: before, new_string: AFTER } };
  return { path, directory, action: required(session.authorize(call)[0]) };
}

/** A change that was made, and one that was cut off before the file was touched. */
async function makeApplied(name: string, before: string | undefined): Promise<Subject> {
  const subject = authorize(name, before);
  expect((await session.run(subject.action)).is_error).toBe(false);
  return subject;
}

async function makePrepared(name: string, before: string | undefined): Promise<Subject> {
  const subject = authorize(name, before);
  let cutOff = (): void => {};
  const reached = new Promise<void>((resolve) => {
    cutOff = resolve;
  });
  await interposing(
    async () => {
      if (session.action(subject.action).state !== 'prepared') return;
      cutOff();
      await new Promise(() => {});
    },
    () => Promise.race([session.run(subject.action, session.createExecutor()), reached]),
  );
  expect([session.action(subject.action).state, contentOf(subject.path)]).toEqual([
    'prepared',
    before,
  ]);
  return subject;
}

/** Does the work again and again, each time in a new place, and fails its first operation, then its second, and on. */
async function failingEachStep(
  make: (name: string) => Promise<Subject>,
  work: (subject: Subject) => Promise<void>,
  check: (subject: Subject, operation: string) => Promise<void>,
): Promise<string[]> {
  const steps: string[] = [];
  for (;;) {
    const subject = await make(`step-${steps.length}`);
    let count = 0;
    let reached: string | undefined;
    await interposing(
      async ({ name }) => {
        count += 1;
        if (count !== steps.length + 1) return;
        reached = name;
        throw Object.assign(new Error('input/output error'), { code: 'EIO' });
      },
      () => work(subject).catch(() => {}),
    );
    await check(subject, reached ?? 'none');
    if (reached === undefined) return steps;
    steps.push(reached);
  }
}

const KINDS: readonly (readonly [string, string | undefined])[] = [
  ['an edit', BEFORE],
  ['a new file', undefined],
];

test.each(KINDS)(
  'N20 F58 the undo of %s whose every operation fails once ends in what the ledger says',
  async (_kind, before) => {
    const states = new Set<string>();
    const steps = await failingEachStep(
      (name) => makeApplied(name, before),
      ({ action }) => undo(action),
      async ({ path, action }, operation) => {
        const { state } = session.action(action);
        states.add(state);
        // In doubt only when the file is already as it was: then the reconciliation can tell, and does.
        const expected = state === 'applied' ? AFTER : before;
        expect([operation, state, contentOf(path)]).toEqual([operation, state, expected]);
        if (operation === 'rm') for (const file of temporaryFiles(session.project)) rmSync(file);
        expect([operation, temporaryFiles(session.project)]).toEqual([operation, []]);
        await reconcile();
        expect([operation, session.action(action).state]).toEqual([
          operation,
          state === 'applied' ? 'applied' : 'undone',
        ]);
      },
    );
    expect(states).toEqual(new Set(['applied', 'undoing', 'undone']));
    expect(steps).toContain('sync');
    expect(steps).toContain('close');
  },
);

test.each(KINDS)(
  'N21 F58 the completion of %s whose every operation fails once ends in what the ledger says',
  async (_kind, before) => {
    const states = new Set<string>();
    const steps = await failingEachStep(
      (name) => makePrepared(name, before),
      reconcile,
      async ({ path, action }, operation) => {
        const { state } = session.action(action);
        states.add(state);
        const content = contentOf(path);
        if (state === 'applied') expect([operation, content]).toEqual([operation, AFTER]);
        if (state === 'failed') expect([operation, content]).toEqual([operation, before]);
        for (const file of temporaryFiles(session.project)) rmSync(file);
        if (state === 'unknown') {
          // The file could not be looked at, so nothing was claimed and nothing done: a person decides.
          expect([operation, content]).toEqual([operation, before]);
          const receipt = { text: 'settled', is_error: true, truncated: false, code: null };
          endAction(session.database, session.action(action), 'failed', receipt, '2026-01-01');
        }
        if (state === 'prepared') {
          expect([operation, content]).toEqual([operation, AFTER]);
          await reconcile();
          expect(session.action(action).state).toBe('applied');
        }
      },
    );
    expect(states).toContain('applied');
    expect(states).toContain('failed');
    expect(steps).toContain('sync');
  },
);

test('N20 neither an undo nor a completed edit makes a directory that somebody removed', async () => {
  const applied = await makeApplied('applied', BEFORE);
  const plan = await planUndo(options(), session.action(applied.action), new Map());
  rmSync(applied.directory, { recursive: true });
  await expect(undoAction(options(), plan)).rejects.toMatchObject({ code: 'path_not_found' });
  expect([existsSync(applied.directory), session.action(applied.action).state]).toEqual([
    false,
    'applied',
  ]);

  const prepared = await makePrepared('prepared', BEFORE);
  let looked = false;
  await interposing(async ({ name }) => {
    // After the comparison, before the parent directory is opened for the change.
    if (name === 'close') looked = true;
    else if (looked) rmSync(prepared.directory, { recursive: true, force: true });
  }, reconcile);
  expect([existsSync(prepared.directory), session.action(prepared.action).state]).toEqual([
    false,
    'failed',
  ]);
});
