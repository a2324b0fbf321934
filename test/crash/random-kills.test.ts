import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshKey, ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome } from '../support/test-home.ts';
import { attempt, bringBack, connectCrashing, findVictims } from './support/crash-session.ts';
import { ABSENT, expectConsistent, readOrAbsent } from './support/oracle.ts';
import { randomFrom } from './support/random-from.ts';

/** How many kills: a few in every test run, thousands when asked for. */
const KILLS = Number(process.env['REINS_CRASH_KILLS'] ?? 6);
const SEED = Number(process.env['REINS_CRASH_SEED'] ?? Date.now() % 1_000_000);
/** A session is given up for a fresh one after this many, so that its timeline stays readable. */
const KILLS_PER_SESSION = 40;
const LENGTH = 300_000;

const content = (version: number): string => `version ${version}\n${'y'.repeat(LENGTH)}\nend\n`;

async function killSome(kills: number, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const home = createTestHome();
  const path = join(home.project, 'counted.txt');
  const extra = join(home.project, 'extra', 'new.txt');
  try {
    writeFileSync(path, content(0));
    let gateway = await connectCrashing(home);
    const session = await ScriptedSession.start(gateway.client, {
      working_directory: home.project,
      capability_profile: 'direct_write',
    });
    const contents = new Map([
      [path, new Set([content(0)])],
      [extra, new Set([ABSENT])],
    ]);
    let version = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const wanted = version + 1;
      contents.get(path)?.add(content(wanted));
      contents.get(extra)?.add(`extra ${wanted}\n`);
      const calls = [
        { name: 'Read', input: { file_path: 'counted.txt', limit: 1 } },
        {
          name: 'Edit',
          input: {
            file_path: 'counted.txt',
            old_string: `version ${version}`,
            new_string: `version ${wanted}`,
          },
        },
        { name: 'Write', input: { file_path: 'extra/new.txt', content: `extra ${wanted}\n` } },
      ];
      const key = { reply_id: freshKey(), turn_id: session.turnId };
      const victims = findVictims(home, gateway.pid);
      const [victim] = [
        [gateway.pid, victims.runner, victims.claude][Math.floor(random() * 3)] ?? gateway.pid,
      ];
      const watcher = watchLength(path);
      const answered = attempt(() => session.reply({ tool_calls: calls }, key));
      await new Promise((resolve) => setTimeout(resolve, random() * 80));
      killHard(victim);
      const answer = await answered;
      // Now and then a second kill while the first is being recovered from.
      if (random() < 0.3) {
        const delay = random() * 400;
        setTimeout(() => killHard(findVictims(home, 0).runner ?? 0), delay);
      }
      await gateway.close().catch(() => {});
      gateway = await bringBack(home, session);
      expect(watcher.stop(), 'the file was seen torn').toBeGreaterThanOrEqual(content(0).length);
      expectConsistent(home, session.id, contents);
      const results = answer?.error === undefined ? (answer?.pending_turn?.messages ?? []) : [];
      if (results.some(({ tool, is_error: isError }) => tool === 'Edit' && isError === false)) {
        expect(readOrAbsent(path)).toBe(content(wanted));
      }
      // The same key acts once: it is known already, or it is taken up now because it had never arrived.
      const before = readOrAbsent(path);
      const again = await session.reply({ tool_calls: calls }, key);
      const takenUpNow = !again.replay && again.error === undefined;
      expect(readOrAbsent(path)).toBe(takenUpNow ? content(wanted) : before);
      if (takenUpNow) expect(before).toBe(content(version));
      version = readOrAbsent(path) === content(wanted) ? wanted : version;
      expect(readOrAbsent(path)).toBe(content(version));
      if (session.state.pending_turn === null) {
        await gateway.close();
        gateway = await bringBack(home, session);
      }
      if (KILLS > 100 && kill % 20 === 0)
        process.stderr.write(`kill ${kill} of ${kills} (seed ${seed})\n`);
    }
    await session.stop();
    await gateway.close();
  } finally {
    await home.dispose();
  }
}

function killHard(pid: number): void {
  if (pid <= 1) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself first.
  }
}

/** Looks at the length of a file as often as this process can, and remembers the shortest. */
function watchLength(path: string): { stop(): number } {
  let shortest = Number.POSITIVE_INFINITY;
  let running = true;
  const look = (): void => {
    if (!running) return;
    shortest = Math.min(shortest, statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    setImmediate(look);
  };
  look();
  return {
    stop() {
      running = false;
      return shortest;
    },
  };
}

for (let first = 0; first < KILLS; first += KILLS_PER_SESSION) {
  const count = Math.min(KILLS_PER_SESSION, KILLS - first);
  const seed = SEED + first;
  test.concurrent(
    `N20 N21 N45 kills ${first + 1} to ${first + count} of gateway, runner or Claude Code at random moments (seed ${seed})`,
    { timeout: count * 60_000 },
    () => killSome(count, seed),
  );
}
