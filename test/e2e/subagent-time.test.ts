import { expect, test } from 'vitest';
import { openSubagentLab } from '../support/subagents.ts';

test('N33 a subagent that gets no answer ends with its time, and a look at it ends with its own', async () => {
  const lab = await openSubagentLab('canary-of-the-deepseek-key');
  try {
    lab.deepseek.script({ silent: true });
    await lab.start('Wait for ever.', { max_minutes: 1 });
    const started = performance.now();
    expect(await lab.get({ wait_seconds: 2 })).toMatchObject({ state: 'running', outcome: null });
    expect(performance.now() - started).toBeGreaterThan(1_900);
    expect(await lab.ended()).toMatchObject({
      state: 'failed',
      outcome: { code: 'time_limit' },
      turns: 0,
    });
    expect(performance.now() - started).toBeGreaterThan(50_000);
    expect(lab.session.state['active_deepseek_subsession_id']).toBeNull();
  } finally {
    await lab.dispose();
  }
});
