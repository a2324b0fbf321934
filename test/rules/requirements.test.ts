import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const TESTS = fileURLToPath(new URL('..', import.meta.url));

const numbered = (letter: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `${letter}${from + index}`);

/** What the product has to do, by the ids that its tests name. */
const REQUIREMENTS = [
  ...numbered('N', 1, 24),
  ...numbered('N', 30, 35),
  ...numbered('N', 40, 48),
  ...numbered('D', 1, 18),
];

test('every requirement is named by a test that checks it', () => {
  const named = new Set(
    readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts') && !path.startsWith('rules'))
      .flatMap((path) => readFileSync(join(TESTS, path), 'utf8').match(/\b[ND]\d{1,2}\b/g) ?? []),
  );
  expect(REQUIREMENTS.filter((id) => !named.has(id))).toEqual([]);
});
