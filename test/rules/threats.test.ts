import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const TESTS = fileURLToPath(new URL('..', import.meta.url));

/**
 * The kinds of attack that a product like this has met, numbered. What each stands for is said by the tests that name
 * it. Two of them have no part here yet: browser sign-in (35) is a token alone, and nothing unpacks archives (39).
 */
const THREATS = Array.from({ length: 40 }, (_, index) => `T${index + 1}`);

test('every threat of the list is named by a test that tries it', () => {
  const named = new Set(
    readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts') && !path.startsWith('rules'))
      .flatMap((path) => readFileSync(join(TESTS, path), 'utf8').match(/\bT\d{1,2}\b/g) ?? []),
  );
  expect(THREATS.filter((threat) => !named.has(threat))).toEqual([]);
});
