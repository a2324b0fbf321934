import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isSessionId } from '../../../src/base/ids.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import { listActions } from '../../../src/ledger/actions.ts';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import { verifySession } from '../../../src/ledger/verify.ts';
import type { TestHome } from '../../support/test-home.ts';

/**
 * What has to hold once a crash has been recovered from, judged by the files and the ledger on disk alone: every file
 * is as one of the contents that it was ever meant to have; it is the one that the ledger says; no temporary file is
 * left; the chain verifies.
 */
export function expectConsistent(
  home: TestHome,
  session: string,
  contents: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  expect(leftovers(home.project)).toEqual([]);
  const database = openLedger(join(home.state, 'state.db'));
  try {
    if (!isSessionId(session)) throw new Error('not a session id');
    expect(verifySession(database, session)).toEqual([]);
    const actions = listActions(database, session);
    for (const action of actions) {
      expect(['applied', 'failed', 'refused'], `${action.tool} ${action.path}`).toContain(
        action.state,
      );
    }
    for (const [path, allowed] of contents) {
      const actual = readOrAbsent(path);
      expect(
        allowed.has(actual),
        `${path} holds ${actual.length} characters that nobody wrote`,
      ).toBe(true);
      const last = actions.findLast(
        (action) => action.path === path && action.state === 'applied' && action.tool !== 'Read',
      );
      if (last !== undefined) expect(sha256(actual)).toBe(last.afterSha256);
    }
  } finally {
    database.close();
  }
}

export const ABSENT = '\u0000absent';

export function readOrAbsent(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ABSENT;
  }
}

function leftovers(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.includes('.reins-'),
  );
}
