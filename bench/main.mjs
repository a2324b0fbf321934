// npm run bench: measures what is built in dist/ on this machine, each figure against its baseline in the same run.
// A time never makes it fail; a measurement that cannot be made does.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { measureCommand } from './measurements/command.mjs';
import { measureContinue } from './measurements/continue.mjs';
import { measureDelegateEvents } from './measurements/delegate-events.mjs';
import { measureDelegateIdle } from './measurements/delegate-idle.mjs';
import { measureDelegateRun } from './measurements/delegate-run.mjs';
import { measureExecutor } from './measurements/executor.mjs';
import { measureGatewayStart } from './measurements/gateway-start.mjs';
import { measureGrowth } from './measurements/growth.mjs';
import { measureMemory } from './measurements/memory.mjs';
import { measureReply } from './measurements/reply.mjs';
import { measureSearch } from './measurements/search.mjs';
import { measureStart } from './measurements/start.mjs';
import { measureTurnBytes } from './measurements/turn-bytes.mjs';
import { BUILT_ENTRY, findPinnedClaude } from './support/product-files.mjs';
import { createProgress } from './support/progress.mjs';
import { renderTable } from './support/table.mjs';
import { disposeWorkspaces } from './support/workspace.mjs';

const MEASUREMENTS = {
  start: measureStart,
  reply: measureReply,
  continue: measureContinue,
  search: measureSearch,
  command: measureCommand,
  memory: measureMemory,
  'gateway-start': measureGatewayStart,
  executor: measureExecutor,
  'turn-bytes': measureTurnBytes,
  growth: measureGrowth,
  'delegate-run': measureDelegateRun,
  'delegate-events': measureDelegateEvents,
  'delegate-idle': measureDelegateIdle,
};
const DEFAULT_RUNS = 7;
const USAGE = `npm run bench -- [--runs N] [--json] [${Object.keys(MEASUREMENTS).join(' | ')} ...]`;

const { runs, json, names } = readArguments();
if (!existsSync(BUILT_ENTRY)) leave('There is nothing to measure in dist/. Type: npm run build');

const machine = describeMachine();

const progress = createProgress();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await disposeWorkspaces();
    process.exit(1);
  });
}
const results = [];
for (const name of names) {
  try {
    results.push(...(await MEASUREMENTS[name]({ runs, progress })));
  } catch (error) {
    process.exitCode = 1;
    results.push({ measurement: name, error: error.message });
  }
}
progress.end();
process.stdout.write(
  json
    ? `${JSON.stringify({ machine, runs, results }, null, 2)}\n`
    : `\n${machine.summary}\n\n${renderTable(results)}`,
);

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: {
        runs: { type: 'string', default: String(DEFAULT_RUNS) },
        json: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    });
    const unknown = positionals.find((name) => !Object.hasOwn(MEASUREMENTS, name));
    if (unknown !== undefined) throw new Error(`there is no measurement "${unknown}"`);
    if (!/^[1-9]\d{0,3}$/.test(values.runs)) throw new Error('--runs takes a whole number from 1');
    return {
      runs: Number(values.runs),
      json: values.json,
      names: positionals.length > 0 ? positionals : Object.keys(MEASUREMENTS),
    };
  } catch (error) {
    return leave(`${error.message}\n${USAGE}`);
  }
}

function describeMachine() {
  const claude = readClaudeVersion();
  const [cpu] = cpus();
  const summary = `${process.platform}-${process.arch}, ${cpus().length} x ${cpu?.model.trim() ?? 'unknown'}, Node ${process.versions.node}, ${claude}, load ${loadavg()[0].toFixed(1)}`;
  return { summary, at: new Date().toISOString(), node: process.versions.node, claude };
}

function readClaudeVersion() {
  try {
    const env = { HOME: '/nonexistent' };
    return execFileSync(findPinnedClaude(), ['--version'], { encoding: 'utf8', env }).trim();
  } catch (error) {
    return leave(error.message);
  }
}

function leave(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
