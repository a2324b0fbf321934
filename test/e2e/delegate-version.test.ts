import { randomInt } from 'node:crypto';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Delegate } from '../support/delegate.ts';
import { listAll } from '../support/run-processes.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let delegate: Delegate | undefined;
let tag = '';

beforeEach(() => {
  home = createTestHome();
  tag = String(randomInt(1e8, 1e9));
});

afterEach(async () => {
  await delegate?.close();
  delegate = undefined;
  await home.dispose();
});

/** A program that answers the question for its version in this way, and says so when it is run for anything else. */
async function open(answering: string, env: Record<string, string> = {}): Promise<Delegate> {
  const path = join(home.root, 'claude');
  const result =
    '{"type":"result","subtype":"success","is_error":false,"session_id":"s","result":"ran"}';
  writeFileSync(
    path,
    `#!/bin/sh\nif [ "$1" = --version ]; then\n${answering}\nexit\nfi\ntouch '${home.root}/ran'\necho '${result}'\n`,
  );
  chmodSync(path, 0o755);
  delegate = await Delegate.connect(home, { CLAUDE_BIN: path, ...env });
  return delegate;
}

const GOOD = `echo '2.1.247 (Claude Code)'`;
const left = () => listAll().filter(({ command }) => command.includes(tag));

test.each([
  ['another version', `echo '2.1.332 (Claude Code)'`, 'said "2.1.332 (Claude Code)"'],
  ['nothing', 'exit 0', 'said nothing'],
  ['the right words and a failure', `${GOOD}; exit 1`, 'exited with code 1'],
  ['the right words without a line end', `printf '2.1.247 (Claude Code)'`, 'said "2.1.247'],
  ['more than the right words', `${GOOD}; echo more`, 'said "2.1.247'],
])(
  'D1 a program that answers with %s is refused before it runs',
  async (_what, answering, said) => {
    const adapter = await open(answering);
    const run = await adapter.run();
    expect(run).toMatchObject({
      state: 'failed',
      error: { code: 'claude_version_unsupported' },
      cleanup_confirmed: true,
    });
    expect(run.error?.message).toContain(said);
    expect(run.error?.message).toContain('npm install -g @anthropic-ai/claude-code@2.1.247');
    expect(existsSync(join(home.root, 'ran'))).toBe(false);
  },
);

test('D1 the question is asked where, and with what environment, the run will be', async () => {
  const adapter = await open(`[ "$WRAPPED" = yes ] && ${GOOD}`, { WRAPPED: 'yes' });
  expect((await adapter.run()).state).toBe('completed');
});

test.runIf(process.platform === 'linux').each([
  ['a child that keeps the output', 'sleep 1000.TAG &'],
  ['a child in a session of its own', 'setsid sleep 1000.TAG >/dev/null 2>&1 &'],
  ['a child without an environment', 'env -i setsid sleep 1000.TAG >/dev/null 2>&1 &'],
])(
  'D1 D15 %s of the question is ended before the run, and delays nothing',
  async (_what, leaving) => {
    const adapter = await open(`${leaving.replace('TAG', tag)}\n${GOOD}`);
    expect(await adapter.run({ timeout_seconds: 20 })).toMatchObject({
      state: 'completed',
      final_event: { result: 'ran' },
      cleanup_confirmed: true,
    });
    expect(left()).toEqual([]);
  },
);

test('D14 D15 a question that is not answered ends with the time limit or a cancel, and with all that it started', async () => {
  const adapter = await open(`setsid sleep 2000.${tag} & exec sleep 1000.${tag}`);
  expect(await adapter.run({ timeout_seconds: 1 })).toMatchObject({
    state: 'timed_out',
    cleanup_confirmed: true,
  });
  const { run_id: id } = await adapter.start();
  await adapter.cancel(id);
  expect(await adapter.result(id, 8)).toMatchObject({
    state: 'cancelled',
    cleanup_confirmed: true,
  });
  expect(left()).toEqual([]);
});
