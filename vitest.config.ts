import { defineConfig } from 'vitest/config';

/** Real processes on a shared machine: generous limits, and no test asserts a time. */
const REAL_PROCESS_TIMEOUT_MS = 120_000;

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'rules', include: ['test/rules/**/*.test.ts'] } },
      {
        test: {
          name: 'adversarial',
          include: ['test/adversarial/**/*.test.ts'],
          testTimeout: REAL_PROCESS_TIMEOUT_MS,
        },
      },
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 30_000 } },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: REAL_PROCESS_TIMEOUT_MS,
          hookTimeout: REAL_PROCESS_TIMEOUT_MS,
        },
      },
      {
        test: {
          name: 'crash',
          include: ['test/crash/**/*.test.ts'],
          testTimeout: REAL_PROCESS_TIMEOUT_MS,
          maxConcurrency: 2,
        },
      },
      {
        test: {
          name: 'installed',
          include: ['test/installed/**/*.test.ts'],
          testTimeout: REAL_PROCESS_TIMEOUT_MS,
          hookTimeout: REAL_PROCESS_TIMEOUT_MS,
        },
      },
    ],
    // Each end-to-end file runs several processes of its own; two cores hold no more than two at once.
    maxWorkers: 2,
  },
});
