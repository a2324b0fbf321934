import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../src/base/canonical-json.ts';
import { interposing } from './support/interposed-fs.ts';
import { look } from './support/look.ts';
import { namesNumber, shownLines } from './support/receipts.ts';
import { openToolSession, type ToolSession } from './support/tool-session.ts';

vi.mock('node:fs/promises', async (importOriginal) => {
  const { interposed } = await import('./support/interposed-fs.ts');
  return interposed(await importOriginal());
});

let session: ToolSession;

beforeEach(() => {
  session = openToolSession({ profile: 'read_only' });
});

afterEach(() => {
  session.dispose();
});

/** What the protected place has and the project has not: names, text and a number of matching lines. */
const SECRET_LINES = 77;

function makeTrees(project: string): { readonly directory: string } {
  const directory = join(project, 'swapped');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'file'), 'needle inside\n');
  writeFileSync(join(directory, 'other'), 'needle inside\n');
  writeFileSync(join(project, 'zzz'), 'needle inside\n');
  return { directory };
}

const CALLS: readonly (readonly [string, (project: string) => JsonObject])[] = [
  ['Read', (project) => ({ file_path: join(project, 'swapped/file') })],
  ['FindFiles', (project) => ({ directory: join(project, 'swapped') })],
  ['SearchText', (project) => ({ query: 'needle', path: join(project, 'swapped') })],
  ['SearchText', (project) => ({ query: 'needle', path: join(project, 'swapped/file') })],
  ['SearchText', (project) => ({ query: 'needle', path: project })],
];

test.each(CALLS)(
  'N14 N15 N17 F57 %s shows nothing of a protected place that is swapped in at any moment',
  async (tool, input) => {
    const keys = join(session.home, '.ssh');
    mkdirSync(keys);
    for (const name of ['file', 'other', 'OUTSIDE']) {
      writeFileSync(join(keys, name), 'needle OUTSIDE\n'.repeat(SECRET_LINES));
    }
    for (let step = 1; ; step += 1) {
      const project = join(session.project, `step-${step}`);
      const { directory } = makeTrees(project);
      let count = 0;
      const receipt = await interposing(
        async () => {
          count += 1;
          if (count !== step) return;
          renameSync(directory, `${directory}.aside`);
          symlinkSync(keys, directory);
        },
        () => look(session, tool, input(project)),
      );
      expect([step, receipt.text.includes('OUTSIDE')]).toEqual([step, false]);
      expect([step, namesNumber(receipt, SECRET_LINES)]).toEqual([step, false]);
      if (count < step) {
        expect([receipt.is_error, receipt.truncated]).toEqual([false, false]);
        expect(step).toBeGreaterThan(2);
        return;
      }
    }
  },
);

test('N14 N20 a file that grows or shrinks between the look and the reading is shown as it was read', async () => {
  const path = join(session.project, 'changing');
  for (const [before, now] of [
    ['one\n', `one\n${'more\n'.repeat(300)}last\n`],
    ['', 'new\n'],
    [`${'long\n'.repeat(300)}`, 'short\n'],
  ] as const) {
    writeFileSync(path, before);
    let changed = false;
    const receipt = await interposing(
      async ({ name }) => {
        if (name === 'read' && !changed) writeFileSync(path, now);
        if (name === 'read') changed = true;
      },
      () => look(session, 'Read', { file_path: path }),
    );
    expect([changed, [...shownLines(receipt).values()]]).toEqual([
      true,
      now.split('\n').slice(0, -1),
    ]);
  }
});
