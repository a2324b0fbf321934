import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const REINS_BIN = fileURLToPath(new URL('../../../bin/reins.js', import.meta.url));

/** Where a home keeps what `reins serve` logs. */
export const SERVE_LOG = 'serve.log';

/** N1: exactly these, sorted. */
export const TOOL_NAMES = [
  'native_session_continue',
  'native_session_recover',
  'native_session_reply_and_wait',
  'native_session_start',
  'native_session_status',
  'native_session_stop',
];

/** D3: exactly these, sorted. */
export const DELEGATE_TOOL_NAMES = [
  'claude.run',
  'claude.run.cancel',
  'claude.run.events',
  'claude.run.list',
  'claude.run.release',
  'claude.run.result',
  'claude.run.start',
];

/** States that ask the client for nothing yet. */
export const UNSETTLED = ['starting', 'running', 'stopping'];

/** `reins serve` on a free port. Its log goes to a file in the home. */
export async function startServe(home) {
  const log = openSync(join(home.root, SERVE_LOG), 'a');
  const child = spawn(process.execPath, [REINS_BIN, 'serve', '--port', '0', '--json'], {
    env: home.env,
    stdio: ['ignore', 'pipe', log],
  });
  closeSync(log);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const line = await Promise.race([
    new Promise((resolve) => createInterface(child.stdout).once('line', resolve)),
    ended.then((code) => Promise.reject(new Error(`reins serve ended with ${code}`))),
  ]);
  const { url, token } = JSON.parse(line);
  return {
    url,
    token,
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
