import * as z from 'zod';
import { parseJson } from '../../base/parse-json.ts';

/** What a probe tries to do, in or outside of a sandbox. */
export type Attempt =
  | { readonly kind: 'tcp'; readonly port: number }
  | { readonly kind: 'unix' | 'read' | 'write'; readonly path: string }
  | { readonly kind: 'signal'; readonly pid: number }
  | { readonly kind: 'run'; readonly file: string; readonly args: readonly string[] }
  | { readonly kind: 'environment'; readonly text: string };

/**
 * The probe: a program for Node that makes its attempts one after another and prints which succeeded. It uses nothing
 * of Reins, since it runs where nothing of Reins can be seen.
 */
export const PROBE_SCRIPT = `
const fs = require('fs'), net = require('net'), cp = require('child_process');
const reach = (where) => new Promise((done) => {
  let socket;
  try { socket = net.connect(where); } catch { return done(false); }
  socket.setTimeout(2000, () => { socket.destroy(); done(false); });
  socket.on('connect', () => { socket.destroy(); done(true); });
  socket.on('error', () => done(false));
});
const does = (work) => { try { work(); return true; } catch { return false; } };
const environments = () => fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).map((pid) => {
  try { return fs.readFileSync('/proc/' + pid + '/environ', 'latin1'); } catch { return ''; }
}).join('\\n');
const ways = {
  tcp: ({ port }) => reach({ host: '127.0.0.1', port }),
  unix: ({ path }) => reach({ path }),
  read: ({ path }) => does(() => fs.readFileSync(path)),
  write: ({ path }) => does(() => fs.writeFileSync(path, 'x')),
  signal: ({ pid }) => does(() => process.kill(pid, 0)),
  run: ({ file, args }) => cp.spawnSync(file, args, { stdio: 'ignore' }).status === 0,
  environment: ({ text }) => environments().includes(text),
};
(async () => {
  const results = [];
  for (const attempt of JSON.parse(process.argv[1])) results.push(await ways[attempt.kind](attempt));
  console.log('probe:' + JSON.stringify(results));
})();
`;

/** The arguments that make Node the probe. */
export function probeArguments(attempts: readonly Attempt[]): string[] {
  return ['-e', PROBE_SCRIPT, JSON.stringify(attempts)];
}

const results = z.array(z.boolean());

/** What each attempt came to; undefined when the probe did not come to its end. */
export function readProbe(output: string): boolean[] | undefined {
  const line = output.split('\n').find((each) => each.startsWith('probe:'));
  return line === undefined ? undefined : results.safeParse(parseJson(line.slice(6))).data;
}
