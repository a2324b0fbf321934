import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { findClaude } from '../../src/claude/find-claude.ts';
import { installFake } from '../support/fake-claude.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

const SCRIPT = fileURLToPath(new URL('../../scripts/evidence.mjs', import.meta.url));

const recordSchema = z.strictObject({
  format_version: z.literal(1),
  recorded_at: z.iso.datetime(),
  reins: z.strictObject({ version: z.string(), commit: z.string().nullable() }),
  claude: z.strictObject({ sha256: z.string(), version: z.string() }),
  machine: z.strictObject({ platform: z.string(), arch: z.string(), node: z.string() }),
  checks: z.array(
    z.strictObject({
      kind: z.string(),
      status: z.enum(['passed', 'failed', 'not_run']),
      detail: z.string().min(1),
    }),
  ),
});

let home: TestHome;

beforeEach(() => {
  home = createTestHome();
});

afterEach(async () => {
  await home.dispose();
});

function record(claude: string): { exitCode: number | null; record: z.infer<typeof recordSchema> } {
  const out = join(home.root, 'evidence', 'delegate.json');
  const args = [SCRIPT, '--only', 'native_interface', '--out', out];
  const { status } = spawnSync(process.execPath, args, {
    env: { ...home.env, CLAUDE_BIN: claude },
  });
  return { exitCode: status, record: recordSchema.parse(JSON.parse(readFileSync(out, 'utf8'))) };
}

test('D18 each kind of evidence is recorded apart, those that did not run too, against the hash of the binary', () => {
  const [claude = ''] = findClaude({ explicit: null, path: '', home: home.root });
  const { exitCode, record: found } = record(claude);
  expect(exitCode).toBe(0);
  expect(found.claude).toEqual({
    sha256: createHash('sha256').update(readFileSync(claude)).digest('hex'),
    version: '2.1.247 (Claude Code)',
  });
  expect(found.checks.map(({ kind, status }) => [kind, status])).toEqual([
    ['fixtures', 'not_run'],
    ['native_interface', 'passed'],
    ['native_execution_scripted_model', 'not_run'],
    ['client_interoperability', 'not_run'],
    ['host_interoperability', 'not_run'],
    ['authenticated_model_execution', 'not_run'],
  ]);
});

test('D1 D18 a program that is not what the contract says is found out without running a prompt', () => {
  const { exitCode, record: found } = record(installFake(home, 'rejects-a-flag'));
  expect(exitCode).toBe(1);
  expect(found.checks.find(({ kind }) => kind === 'native_interface')).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining('--permission-mode'),
  });
});
