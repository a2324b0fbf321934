import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Delegate, type RunResult } from '../support/delegate.ts';
import { type MessagesApi, startMessagesApi } from '../support/messages-api.ts';
import { listAll, type SeenProcess, supervisionsOf } from '../support/run-processes.ts';
import { createTestHome, killAll, type TestHome } from '../support/test-home.ts';
import { randomFrom } from './support/random-from.ts';

/** How many runs: a few in every test run, hundreds when asked for. */
const RUNS = Number(process.env['REINS_DELEGATE_RUNS'] ?? 6);
const SEED = Number(process.env['REINS_CRASH_SEED'] ?? Date.now() % 1_000_000);
/** Two at a time, which is as many as two cores hold. */
const LANES = 2;
const RUN_TIMEOUT_MS = 60_000;

const VICTIMS = [
  'adapter',
  'supervisor',
  'adopter',
  'claude',
  'adapter and supervisor',
  'nobody',
] as const;

async function killSome(runs: number, seed: number): Promise<Record<string, number>> {
  const random = randomFrom(seed);
  const pick = <Item>(items: readonly Item[]): Item | undefined =>
    items[Math.floor(random() * items.length)];
  const api = await startMessagesApi();
  const home = createTestHome({
    ANTHROPIC_BASE_URL: api.baseUrl,
    ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  });
  allowCommands(home);
  const counts: Record<string, number> = {};
  const count = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  let adapter = await Delegate.connect(home);
  try {
    for (let index = 0; index < runs; index += 1) {
      const tag = String(Math.floor(1e8 + random() * 9e8));
      const victim = pick(VICTIMS) ?? 'nobody';
      const delayMs = random() * 2_500;
      writeForkingScript(home, tag);
      script(api, random() < 0.5);
      const run = await adapter.start({ prompt: `go ${tag}`, timeout_seconds: 30 });
      await sleep(delayMs);
      kill(adapter, tag, victim);
      if (victim.startsWith('adapter')) {
        await adapter.close().catch(() => {});
        await expectNothingLeft(tag, home);
        count(victim);
        adapter = await Delegate.connect(home);
        continue;
      }
      if (victim === 'nobody' && random() < 0.5) await adapter.cancel(run.run_id);
      const over = await adapter.result(run.run_id, 50);
      expectTrue(over, victim, tag);
      await expectNothingLeft(tag, home);
      count(
        `${victim}: ${over.state}, ${over.error?.code ?? 'no error'}, ${over.cleanup_confirmed}`,
      );
      const uncertain = (await adapter.list()).filter((each) => !each.cleanup_confirmed);
      if (uncertain.length < 4) continue;
      await adapter.close();
      adapter = await Delegate.connect(home);
    }
  } finally {
    await adapter.close().catch(() => {});
    await home.dispose();
    await api.close();
  }
  return counts;
}

function allowCommands(home: TestHome): void {
  mkdirSync(join(home.root, '.claude'));
  const settings = { permissions: { allow: ['Bash'] } };
  writeFileSync(join(home.root, '.claude', 'settings.json'), JSON.stringify(settings));
}

/** A plain background child, one that ignores the polite signal and one in a session of its own. */
function writeForkingScript(home: TestHome, tag: string): void {
  const loop = `trap "" TERM; while :; do sleep 1; : ${tag}; done`;
  writeFileSync(
    join(home.project, `fork-${tag}.sh`),
    `sleep 1000.${tag} &\n(sh -c '${loop}' &)\nsetsid sleep 2000.${tag} &\nexit 0\n`,
  );
  writeFileSync(join(home.project, 'fork.sh'), `exec bash fork-${tag}.sh\n`);
}

/** The run starts its children, and then either comes to its end or waits for a model that says no more. */
function script(api: MessagesApi, endsByItself: boolean): void {
  api.script(
    { tool: 'Bash', input: { command: 'bash fork.sh', description: 'x' } },
    endsByItself ? { text: 'done' } : { stall: 'I am' },
  );
}

const tagged = (tag: string): SeenProcess[] =>
  listAll().filter(({ command }) => command.includes(tag));

function kill(adapter: Delegate, tag: string, victim: (typeof VICTIMS)[number]): void {
  const busy = supervisionsOf(adapter.pid).find(({ claude }) => claude?.command.includes(tag));
  const supervisor = busy?.supervisor?.pid ?? [];
  const claude = busy?.claude?.pid ?? [];
  const adopter = busy?.adopter.pid ?? [];
  const pids = {
    adapter: [adapter.pid],
    supervisor: [supervisor].flat(),
    adopter: [adopter].flat(),
    claude: [claude].flat(),
    'adapter and supervisor': [adapter.pid, adopter, supervisor].flat(),
    nobody: [],
  };
  killAll(pids[victim]);
}

/** What the adapter says of the run is so. */
function expectTrue(over: RunResult, victim: string, tag: string): void {
  expect(over.completed, JSON.stringify(over)).toBe(true);
  if (over.cleanup_confirmed) expect(tagged(tag), JSON.stringify(over)).toEqual([]);
  if (over.state === 'completed') {
    expect(over).toMatchObject({ exit_code: 0, final_event: { result: 'done' } });
    expect(over.cleanup_confirmed).toBe(true);
  } else {
    expect(over.error, JSON.stringify(over)).not.toBeNull();
  }
  if (victim !== 'supervisor' && victim !== 'adopter')
    expect(over.cleanup_confirmed, JSON.stringify(over)).toBe(true);
}

async function expectNothingLeft(tag: string, home: TestHome): Promise<void> {
  for (let tries = 0; tries < 1500 && tagged(tag).length > 0; tries += 1) await sleep(20);
  expect(tagged(tag), `seed ${SEED}, home ${home.root}`).toEqual([]);
}

describe.runIf(process.platform === 'linux')('random kills', () => {
  const perLane = Math.ceil(RUNS / LANES);
  for (let lane = 0; lane < LANES; lane += 1) {
    test.concurrent(
      `D15 F10 F11 ${perLane} runs with kills at random moments: nothing left, nothing false said (lane ${lane + 1})`,
      async () => {
        const counts = await killSome(perLane, SEED + lane);
        const all = Object.values(counts).reduce((sum, each) => sum + each, 0);
        expect(all).toBe(perLane);
        if (RUNS > 20) process.stdout.write(`${JSON.stringify(counts, null, 1)}\n`);
      },
      perLane * RUN_TIMEOUT_MS,
    );
  }
});
