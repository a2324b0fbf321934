import { createHash } from 'node:crypto';
import type * as fs from 'node:fs';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { NewAction } from '../../../src/ledger/actions.ts';
import { endAction, findActionByToolUse } from '../../../src/ledger/actions.ts';
import { readBlob } from '../../../src/ledger/blobs.ts';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import { type FileOperation, interposing } from './support/interposed-fs.ts';
import {
  openToolSession,
  required,
  type ToolSession,
  temporaryFiles,
} from './support/tool-session.ts';

vi.mock('node:fs/promises', async (importOriginal) => {
  const { interposed } = await import('./support/interposed-fs.ts');
  return interposed(await importOriginal());
});

const BEFORE = 'before\n';
const AFTER = 'after\n';
const OTHERS = 'others\n';

let session: ToolSession;

beforeEach(() => {
  session = openToolSession();
});

afterEach(() => {
  session.dispose();
});

interface Subject {
  readonly directory: string;
  readonly path: string;
  readonly action: NewAction;
}

/** An authorised Edit of a file that exists, or an authorised Write of one that does not. */
type Make = (name: string) => Subject;

const makeEdit: Make = (name) => {
  const directory = join(session.project, name);
  mkdirSync(directory);
  const path = join(directory, 'file');
  writeFileSync(path, BEFORE, { mode: 0o640 });
  const input = { file_path: path, old_string: 'before', new_string: 'after' };
  return { directory, path, action: required(session.authorize({ tool: 'Edit', input })[0]) };
};

const makeWrite: Make = (name) => {
  const directory = join(session.project, name);
  const path = join(directory, 'new', 'file');
  mkdirSync(directory);
  const input = { file_path: path, content: AFTER };
  return { directory, path, action: required(session.authorize({ tool: 'Write', input })[0]) };
};

const KINDS: readonly (readonly [string, Make, string | undefined])[] = [
  ['an edit', makeEdit, BEFORE],
  ['a new file', makeWrite, undefined],
];

const contentOf = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, 'utf8') : undefined;

const left = (): string[] => temporaryFiles(session.project);

/**
 * Makes the same change again and again, in a new place each time, and interferes before its first operation on the
 * file system, then before its second, and so on until one has run through undisturbed.
 */
async function atEveryStep(
  make: Make,
  interfere: (operation: FileOperation, subject: Subject) => Promise<void>,
  check: (
    subject: Subject,
    operation: string,
    outcome: Awaited<ReturnType<ToolSession['run']>>,
  ) => void,
): Promise<string[]> {
  const steps: string[] = [];
  for (;;) {
    const subject = make(`step-${steps.length}`);
    let count = 0;
    let reached: string | undefined;
    const outcome = await interposing(
      async (operation) => {
        count += 1;
        if (count !== steps.length + 1) return;
        reached = operation.name;
        await interfere(operation, subject);
      },
      () => session.run(subject.action),
    );
    check(subject, reached ?? 'none', outcome);
    settle(subject.action);
    if (reached === undefined) return steps;
    steps.push(reached);
  }
}

/** Ends a change that was left in doubt, as a reconciliation would: no reply is accepted before. */
function settle(action: NewAction): void {
  const record = session.action(action);
  if (record.state !== 'prepared' && record.state !== 'authorized') return;
  const receipt = { text: 'settled', is_error: true, truncated: false, code: null };
  endAction(session.database, record, 'failed', receipt, new Date().toISOString());
}

const full = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));

test.each(KINDS)(
  'N20 F58 %s whose every operation fails once leaves the old or the new file, and the truth',
  async (_kind, make, before) => {
    const codes = new Set<string | null>();
    const steps = await atEveryStep(make, full, ({ path, action }, operation, receipt) => {
      const { state, receipt: stored } = session.action(action);
      codes.add(receipt.code);
      if (receipt.code === 'write_unconfirmed') {
        // The file is changed and the disk has not said so: nobody may claim either.
        expect([contentOf(path), state, stored]).toEqual([AFTER, 'prepared', null]);
      } else if (receipt.is_error) {
        expect([operation, contentOf(path), state, stored]).toEqual([
          operation,
          before,
          'failed',
          receipt,
        ]);
      } else {
        expect([contentOf(path), state, stored]).toEqual([AFTER, 'applied', receipt]);
      }
      // A temporary file stays only where its own removal was what failed.
      if (operation !== 'rm') expect([operation, left()]).toEqual([operation, []]);
      for (const path of left()) rmSync(path);
    });
    // What is written is on disk before it gets its name, and the name before it is acknowledged.
    const order = steps
      .slice(steps.indexOf('writeFile'))
      .filter((step) => ['writeFile', 'sync', 'link', 'rename'].includes(step));
    expect(order).toEqual(['writeFile', 'sync', before === undefined ? 'link' : 'rename', 'sync']);
    expect(codes).toContain('write_failed');
    expect(codes).toContain('write_unconfirmed');
    expect(codes).toContain(null);
  },
);

test.each(KINDS)(
  'N20 F58 %s on a disk that fills up half way through leaves nothing of it',
  async (_kind, make, before) => {
    const steps = await atEveryStep(
      make,
      async ({ name, handle, args }) => {
        if (name !== 'writeFile') return;
        const bytes = args[0] as Buffer;
        await required(handle).write(bytes.subarray(0, 3));
        await full();
      },
      ({ path }, operation, receipt) => {
        if (operation !== 'writeFile') return;
        expect([receipt.code, contentOf(path), left()]).toEqual(['write_failed', before, []]);
      },
    );
    expect(steps).toContain('writeFile');
  },
);

test.each(KINDS)(
  'N20 N21 F58 F4 crash: %s cut off at any moment leaves a whole file and a ledger that can tell',
  async (_kind, make, before) => {
    const contents = new Set<string | undefined>();
    for (let step = 1; ; step += 1) {
      const { path, action } = make(`step-${step}`);
      const executor = session.createExecutor();
      let count = 0;
      let cutOff = (): void => {};
      const reached = new Promise<'cut off'>((resolve) => {
        cutOff = () => resolve('cut off');
      });
      const outcome = await interposing(
        async () => {
          count += 1;
          if (count < step) return;
          cutOff();
          await new Promise(() => {});
        },
        () => Promise.race([session.run(action, executor), reached]),
      );
      if (outcome !== 'cut off') break;
      const content = contentOf(path);
      contents.add(content);
      expect([before, AFTER]).toContain(content);
      expect(left().length).toBeLessThanOrEqual(1);
      for (const temporary of left()) rmSync(temporary);

      const other = openLedger(join(session.state, 'state.db'));
      const record = required(findActionByToolUse(other, session.id, action.toolUseId));
      expect(record.receipt).toBeNull();
      if (record.state !== 'authorized') {
        expect(record.state).toBe('prepared');
        const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
        expect(record.beforeSha256).toBe(before === undefined ? null : hash(before));
        expect(record.afterSha256).toBe(hash(AFTER));
        for (const text of [before, AFTER]) {
          if (text !== undefined)
            expect(Buffer.from(required(readBlob(other, hash(text)))).toString()).toBe(text);
        }
        // Repeating the call is not how one finds out what became of it.
        expect((await session.run(action, session.createExecutor())).code).toBe('not_authorized');
        expect([contentOf(path), session.action(action).state]).toEqual([content, 'prepared']);
      } else {
        expect(content).toBe(before);
      }
      other.close();
      settle(action);
    }
    expect(contents).toEqual(new Set([before, AFTER]));
  },
);

test('N20 T6 F4 concurrency: other content that appears at any moment of an edit is noticed, up to the rename itself', async () => {
  const lost: number[] = [];
  const steps = await atEveryStep(
    makeEdit,
    async (_operation, { path }) => {
      const { atime, mtime } = statSync(path);
      // The same length and the same times: only the bytes tell.
      writeFileSync(path, OTHERS);
      utimesSync(path, atime, mtime);
    },
    ({ path }, operation, receipt) => {
      if (operation === 'none') return;
      const content = contentOf(path);
      if (receipt.is_error) {
        expect(['file_changed', 'text_not_found']).toContain(receipt.code);
        expect(content).toBe(OTHERS);
      } else if (content === AFTER) lost.push(lost.length);
      else expect(content).toBe(OTHERS);
    },
  );
  expect(OTHERS).toHaveLength(BEFORE.length);
  expect(steps).toContain('rename');
  // Known limit: from the end of the comparison to the rename. The file is read to its end, closed, and renamed over.
  expect(lost.length).toBeLessThanOrEqual(3);
});

test('N20 F4 concurrency: a file that somebody else makes at any moment of a Write is never replaced', async () => {
  const codes = new Set<string | null>();
  const steps = await atEveryStep(
    makeWrite,
    async (_operation, { path }) => {
      if (existsSync(path)) return;
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, OTHERS);
    },
    ({ path }, operation, receipt) => {
      codes.add(receipt.code);
      // One that was there when the Write looked for it is replaced: that is what was asked for.
      if (operation === 'lstat' && !receipt.is_error) return;
      expect([operation, contentOf(path)]).toEqual([operation, receipt.is_error ? OTHERS : AFTER]);
    },
  );
  expect(steps).toContain('link');
  expect(codes).toContain('file_changed');
});

/** Ways to put something of the outside in the place of what a change is about. */
const SWAPS: readonly (readonly [
  'the directory' | 'the file',
  string,
  (subject: Subject) => void,
])[] = [
  [
    'the directory',
    'a link to the outside',
    ({ directory }) => {
      renameSync(directory, `${directory}.aside`);
      symlinkSync(session.outside, directory);
    },
  ],
  [
    'the file',
    'a link to the outside',
    ({ path }) => {
      rmSync(path, { force: true });
      if (existsSync(join(path, '..'))) symlinkSync(join(session.outside, 'file'), path);
    },
  ],
  [
    'the file',
    'a hard link to the outside',
    ({ path }) => {
      rmSync(path, { force: true });
      if (existsSync(join(path, '..'))) linkSync(join(session.outside, 'file'), path);
    },
  ],
  [
    'the file',
    'a directory',
    ({ path }) => {
      rmSync(path, { force: true });
      mkdirSync(path, { recursive: true });
    },
  ],
];

for (const [kind, make] of KINDS) {
  test.each(SWAPS)(
    `N19 N20 F57 ${kind} with %s swapped for %s at any moment leaves the outside untouched`,
    async (what, by, swap) => {
      // What lies outside looks the same as what is about to be changed, so that no comparison tells them apart.
      const outside = join(session.outside, 'file');
      writeFileSync(outside, BEFORE);
      mkdirSync(join(session.outside, 'new'));
      const look = (): Pick<fs.Stats, 'ino' | 'mtimeMs' | 'mode' | 'size'> & {
        names: string[];
        text: string;
      } => {
        const { ino, mtimeMs, mode, size } = statSync(outside);
        return {
          ino,
          mtimeMs,
          mode,
          size,
          names: readdirSync(session.outside, { recursive: true, encoding: 'utf8' }),
          text: readFileSync(outside, 'utf8'),
        };
      };
      const before = look();
      const codes = new Set<string | null>();
      const steps = await atEveryStep(
        make,
        async (_operation, subject) => swap(subject),
        ({ directory }, operation, receipt) => {
          codes.add(receipt.code);
          // The last file that an edit opens is the one that it compares, and that has to be of the same kind still.
          const noticed = what === 'the file' && by !== 'a hard link to the outside';
          if (make === makeEdit && noticed && operation === 'open') {
            expect(receipt.is_error).toBe(true);
          }
          expect([operation, look()]).toEqual([operation, before]);
          expect([operation, left()]).toEqual([operation, []]);
          rmSync(directory, { recursive: true });
          rmSync(`${directory}.aside`, { recursive: true, force: true });
        },
      );
      expect(steps.length).toBeGreaterThan(10);
      expect(codes.size).toBeGreaterThan(1);
    },
  );
}

test.each([
  ['a file', (subject: Subject) => subject.path],
  ['a directory', (subject: Subject) => subject.directory],
])(
  'N20 F57 %s that is removed at any moment of an edit does not come back',
  async (_what, victim) => {
    const steps = await atEveryStep(
      makeEdit,
      async (_operation, subject) => rmSync(victim(subject), { recursive: true, force: true }),
      (subject, operation, receipt) => {
        // Known limit: between the comparison and the rename nobody looks.
        if (operation === 'rename' || operation === 'none') return;
        if (receipt.is_error)
          expect([operation, existsSync(victim(subject))]).toEqual([operation, false]);
      },
    );
    expect(steps).toContain('rename');
  },
);
