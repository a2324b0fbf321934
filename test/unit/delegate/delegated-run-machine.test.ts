import { expect, test } from 'vitest';
import {
  DELEGATED_RUN_EVENTS,
  DELEGATED_RUN_STATES,
  DELEGATED_RUN_TABLE,
} from '../../../src/delegate/delegated-run-machine.ts';
import { transition } from '../../../src/machine/transition-table.ts';

test('D5 D13 a run starts, runs and is settled once', () => {
  const legal = DELEGATED_RUN_STATES.flatMap((state) =>
    DELEGATED_RUN_EVENTS.flatMap((event) => {
      const next = transition(DELEGATED_RUN_TABLE, state, event);
      return typeof next === 'string' ? [`${state} -${event}-> ${next}`] : [];
    }),
  );
  expect(legal).toEqual([
    'starting -claude_started-> running',
    'starting -failed-> failed',
    'starting -cancelled-> cancelled',
    'starting -timed_out-> timed_out',
    'running -succeeded-> completed',
    'running -failed-> failed',
    'running -cancelled-> cancelled',
    'running -timed_out-> timed_out',
  ]);
});
