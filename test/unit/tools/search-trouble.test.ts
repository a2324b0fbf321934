import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { processesOf } from '../../support/test-home.ts';
import { cursorOf, listed } from './support/receipts.ts';
import { openToolSession, type ToolSession } from './support/tool-session.ts';

const fake = vi.hoisted(() => ({ path: '' }));
vi.mock('@vscode/ripgrep', () => ({
  get rgPath() {
    return fake.path;
  },
}));

let session: ToolSession;

beforeEach(() => {
  session = openToolSession({ profile: 'read_only' });
  fake.path = join(session.root, 'rg');
  for (const name of ['a', 'b']) writeFileSync(join(session.project, name), 'needle\n');
});

afterEach(() => {
  vi.useRealTimers();
  session.dispose();
});

/** Puts a tiny program in the place of ripgrep. */
function behaveAs(script: string): void {
  writeFileSync(fake.path, `#!/bin/sh\n${script}\n`);
  chmodSync(fake.path, 0o755);
}

/** Two results, as FindFiles and the count of SearchText get them. */
const TWO_FILES = `case "$*" in *--files*) printf './a\\0./b\\0';; *) printf './a\\0001\\n./b\\0001\\n';; esac`;

const CALLS = [
  ['FindFiles', {}],
  ['SearchText', { query: 'needle' }],
] as const;

/** Lets the deadline of a search, and the grace of what it ends, pass as soon as the program has said its say. */
async function passDeadline(): Promise<void> {
  const said = `${fake.path}.said`;
  while (!existsSync(said)) await delay(5);
  rmSync(said);
  await delay(50);
  vi.advanceTimersByTime(20_000);
  await delay(50);
  vi.advanceTimersByTime(2_000);
}

test.each(CALLS)(
  'F60 N15 N18 %s on a mount that stalls ends at its deadline, marked partial, with nothing left running',
  async (tool, input) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    behaveAs(`trap '' TERM\n${TWO_FILES}\n: > "$0.said"\nwhile :; do sleep 1000; done`);
    const answer = session.call(tool, input);
    await passDeadline();
    // SearchText looks at the lines in a second run.
    if (tool === 'SearchText') await passDeadline();
    const receipt = await answer;
    expect([receipt.is_error, receipt.truncated, cursorOf(receipt)]).toEqual([
      false,
      true,
      undefined,
    ]);
    if (tool === 'FindFiles') {
      expect(listed(receipt)).toEqual([join(session.project, 'a'), join(session.project, 'b')]);
    }
    expect(processesOf(session.root)).toEqual([]);
  },
);

test.each(CALLS)(
  'F60 N18 %s whose search program dies half way is marked partial',
  async (tool, input) => {
    behaveAs(`${TWO_FILES}\nkill -SEGV $$`);
    const receipt = await session.call(tool, input);
    expect([receipt.is_error, receipt.truncated]).toEqual([false, true]);
  },
);

test('F60 N18 SearchText that knows how many lines match and cannot show them is marked partial', async () => {
  behaveAs(`case "$*" in *--line-number*) kill -SEGV $$;; *) printf './a\\0001\\n';; esac`);
  const receipt = await session.call('SearchText', { query: 'needle' });
  expect([receipt.is_error, receipt.truncated, listed(receipt)]).toEqual([false, true, []]);
});

test.each(CALLS)('F60 N16 %s without a search program fails with a code', async (tool, input) => {
  const receipt = await session.call(tool, input);
  expect(receipt.code).toBe('search_failed');
});

test.each(CALLS)(
  'F60 N18 %s that gets results without end, or without a separator, stays bounded',
  async (tool, input) => {
    behaveAs(
      `case "$*" in *--files*) while :; do printf './a\\0'; done;; *) head -c 3000000 /dev/zero | tr '\\0' x;; esac`,
    );
    const receipt = await session.call(tool, { ...input, limit: 50 });
    expect(listed(receipt)).toHaveLength(tool === 'FindFiles' ? 50 : 0);
    expect(processesOf(session.root)).toEqual([]);
  },
);
