import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { DeepseekAnswer } from '../support/deepseek.ts';
import { freshKey } from '../support/scripted-client.ts';
import { type DescribedSubagent, openSubagentLab, type SubagentLab } from '../support/subagents.ts';
import { killAll, processesOf } from '../support/test-home.ts';
import { bringBack } from './support/crash-session.ts';
import { ABSENT, expectConsistent, readOrAbsent } from './support/oracle.ts';
import { randomFrom } from './support/random-from.ts';

/** How many kills: a few in every test run, hundreds when asked for. */
const KILLS = Number(process.env['REINS_SUBAGENT_KILLS'] ?? 6);
const SEED = Number(process.env['REINS_CRASH_SEED'] ?? Date.now() % 1_000_000);
const KILLS_PER_SESSION = 25;
const FILES = 5;
/** A subtask takes about as long, start of its Claude Code included. Milliseconds. */
const SUBTASK_MS = 1_600;

const VICTIMS = ['gateway', 'runner', 'main', 'subagent'] as const;

/** The processes behind the names, as the kernel tells of them. */
function findVictim(lab: SubagentLab, victim: (typeof VICTIMS)[number]): number[] {
  if (victim === 'gateway') return [lab.gateway.pid];
  const own = String(lab.session.state.claude_session_id);
  return processesOf(lab.home.root).filter((pid) => {
    const command = readCommand(pid);
    if (victim === 'runner') return command.includes('runner.js');
    if (!command.includes('--strict-mcp-config')) return false;
    return command.includes(own) === (victim === 'main');
  });
}

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

const writeOf = (path: string, content: string): DeepseekAnswer => ({
  thinking: 'on',
  calls: [{ tool: 'Write', input: { file_path: path, content } }],
});

/** What became of the subagent. A session that had not noticed yet that something of it is dead is brought back again. */
async function lookAgain(lab: SubagentLab): Promise<DescribedSubagent> {
  for (let tries = 0; ; tries += 1) {
    lab.gateway = await bringBack(lab.home, lab.session);
    try {
      return await lab.ended();
    } catch (error) {
      if (tries === 3) throw error;
      await lab.gateway.close().catch(() => {});
    }
  }
}

async function killSome(kills: number, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const lab = await openSubagentLab('canary-of-the-deepseek-key');
  const { session, home, deepseek, root } = lab;
  const contents = new Map<string, Set<string>>();
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      const names = Array.from({ length: FILES }, (_, index) => `kill-${kill}/file-${index}.txt`);
      for (const name of names) contents.set(join(root, name), new Set([ABSENT, `${name}\n`]));
      deepseek.script(...names.map((name) => writeOf(name, `${name}\n`)), { text: 'written' });
      const victim = VICTIMS[Math.floor(random() * VICTIMS.length)] ?? 'runner';
      const asked = deepseek.requests.length;
      const id = await lab.start('Write the files.');
      await sleep(random() * SUBTASK_MS);
      killAll(findVictim(lab, victim));
      await lab.gateway.close().catch(() => {});
      const seen = await lookAgain(lab);
      const what = `${victim} killed, ${seen.state} ${seen.outcome?.code ?? ''} (seed ${seed}, kill ${kill})`;
      expect(seen.subsession_id, what).toBe(id);
      expect(['completed', 'failed', 'stopped'], what).toContain(seen.state);
      expect(seen.outcome === null, what).toBe(seen.state === 'completed');
      if (victim === 'gateway') expect(seen.state, what).toBe('completed');
      if (victim === 'runner' && seen.state !== 'completed') {
        expect(seen.outcome?.code, what).toBe('runner_lost');
      }
      expectConsistent(home, session.id, contents);
      // Its work stands as far as it came, each file once; the model was not asked for anything twice.
      const written = names.filter((name) => readOrAbsent(join(root, name)) !== ABSENT);
      expect(written, what).toEqual(names.slice(0, written.length));
      if (seen.state === 'completed') expect(written, what).toHaveLength(FILES);
      expect(deepseek.requests.length - asked, what).toBeLessThanOrEqual(FILES + 1);
      // The files are the client's again.
      const mine = `mine-${freshKey()}.txt`;
      const [result] = await session.call({
        name: 'Write',
        input: { file_path: mine, content: 'x\n' },
      });
      expect(result?.is_error, what).toBe(false);
      const others = processesOf(home.root)
        .map(readCommand)
        .filter((command) => command.includes('--strict-mcp-config'));
      expect(
        others.every((command) => command.includes(String(session.state.claude_session_id))),
        what,
      ).toBe(true);
      if (KILLS > 50) process.stderr.write(`${what}\n`);
    }
    await session.stop();
  } finally {
    await lab.dispose();
  }
}

for (let first = 0; first < KILLS; first += KILLS_PER_SESSION) {
  const count = Math.min(KILLS_PER_SESSION, KILLS - first);
  const seed = SEED + first;
  test.concurrent(
    `N34 F11 kills ${first + 1} to ${first + count} of gateway, runner or either Claude Code while a subagent writes (seed ${seed})`,
    { timeout: count * 60_000 },
    () => killSome(count, seed),
  );
}
