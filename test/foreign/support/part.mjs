import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVE_LOG } from './reins.mjs';
import { createTestHome, processesOf } from './test-home.mjs';
import { watchOutside } from './watch-outside.mjs';

/** How long processes may take to end by themselves once everything has been stopped. */
const END_TIMEOUT_MS = 15_000;

/**
 * Runs one part: a home of its own, a trap for traffic that is meant for elsewhere, and a verdict in the exit code.
 * What the part starts has to be gone when its body is through, and is ended by force only after that was noted.
 *
 * @param {string} name
 * @param {(context: {home: import('./test-home.mjs').TestHome, say: (line: string) => void}) => Promise<void>} body
 */
export async function runPart(name, body) {
  const startedAt = performance.now();
  const say = (line) => process.stdout.write(`${name}: ${line}\n`);
  const outside = await watchOutside();
  const home = createTestHome(outside.env);
  for (const [signal, exitCode] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ]) {
    process.once(signal, () => void home.dispose().finally(() => process.exit(exitCode)));
  }
  try {
    await body({ home, say });
    await expectAllEnded(home.root);
    outside.expectNone();
    say(`passed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  } catch (error) {
    say(`FAILED: ${error instanceof Error ? error.stack : error}`);
    for (const [file, lines] of readLogs(home)) say(`the end of ${file}:\n${lines}`);
    process.exitCode = 1;
  } finally {
    await home.dispose();
    await outside.close();
  }
}

/** The ends of the logs, which go away with the home. */
function readLogs(home) {
  const sessions = join(home.state, 'sessions');
  const runnerLogs = existsSync(sessions)
    ? readdirSync(sessions).map((session) => join(sessions, session, 'runner.log'))
    : [];
  return [join(home.root, SERVE_LOG), ...runnerLogs]
    .filter((file) => existsSync(file))
    .map((file) => [file, readFileSync(file, 'utf8').trim().split('\n').slice(-10).join('\n')])
    .filter(([, lines]) => lines !== '');
}

async function expectAllEnded(root) {
  const deadline = performance.now() + END_TIMEOUT_MS;
  while (processesOf(root).length > 0) {
    if (performance.now() > deadline) {
      throw new Error(
        `still running after everything was stopped: ${processesOf(root).join(', ')}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
