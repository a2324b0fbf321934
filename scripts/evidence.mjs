// npm run evidence [-- --clients] [-- --model]: runs the checks of the delegate door and records which kinds ran, against
// which binary, and which did not. The kinds are never added up: that a stand-in was handled well says nothing about an
// account, and neither says anything about a host.
//   --clients  also lets the Codex CLI, fetched from npm, call the tools
//   --only KIND  runs that kind alone
//   --model    also hands one small task to Claude Code with your own account, which costs what your account costs
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { findPinnedClaude } from '../bench/support/product-files.mjs';
import { root } from './bundle-options.mjs';

const MODEL_TASK = 'Reply with the single word: reins';

const { values } = parseArgs({
  options: {
    clients: { type: 'boolean', default: false },
    model: { type: 'boolean', default: false },
    only: { type: 'string' },
    out: { type: 'string', default: join(root, 'evidence', 'delegate.json') },
  },
});

const claude = process.env['CLAUDE_BIN'] ?? findPinnedClaude();
const KINDS = {
  fixtures,
  native_interface: nativeInterface,
  native_execution_scripted_model: nativeExecution,
  client_interoperability: clientInteroperability,
  host_interoperability: hostInteroperability,
  authenticated_model_execution: authenticatedModel,
};
const checks = [];
for (const [kind, check] of Object.entries(KINDS)) {
  const isWanted = values.only === undefined || values.only === kind;
  const found = isWanted ? await check() : notRun('another kind was asked for');
  checks.push({ kind, ...found });
}
const record = {
  format_version: 1,
  recorded_at: new Date().toISOString(),
  reins: { version: readJson('package.json').version, commit: readCommit() },
  claude: { sha256: sha256(readFileSync(claude)), version: printed(claude, '--version').trim() },
  machine: { platform: process.platform, arch: process.arch, node: process.versions.node },
  checks,
};
mkdirSync(join(values.out, '..'), { recursive: true });
writeFileSync(values.out, `${JSON.stringify(record, null, 2)}\n`);
for (const { kind, status, detail } of checks)
  say(`${kind.padEnd(32)} ${status.padEnd(8)} ${detail}`);
say(`\nClaude Code ${record.claude.version}, SHA-256 ${record.claude.sha256}\n${values.out}`);
if (checks.some(({ status }) => status === 'failed')) process.exitCode = 1;

/** Stand-ins for Claude Code, each misbehaving in one way, and the rules as pure functions. */
function fixtures() {
  const files = [
    'test/unit/delegate',
    'test/unit/claude',
    'test/unit/process/family',
    'test/e2e/delegate',
  ];
  return vitest(['--project', 'unit', '--project', 'e2e', ...files]);
}

/** The contract against what the binary prints of itself. No model, no network. */
function nativeInterface() {
  const tree = readJson('contract/cli-tree.json');
  const help = printed(claude, '--help');
  const flags = tree.commands
    .flatMap(({ argv }) => argv)
    .flatMap(({ flag }) => (flag === undefined ? [] : [flag]));
  const missing = flags.filter((flag) => !help.includes(`${flag} `));
  const wrong = tree.executable_checks.filter(
    ({ args, stdout }) => printed(claude, ...args) !== stdout,
  );
  const passed = missing.length === 0 && wrong.length === 0;
  return {
    status: passed ? 'passed' : 'failed',
    detail: passed
      ? `${flags.length} flags and the version are as the contract says`
      : `not as the contract says: ${[...missing, ...wrong.map(({ args }) => args.join(' '))].join(', ')}`,
  };
}

/** The real binary, its model a Messages API on loopback. */
function nativeExecution() {
  return vitest(['--project', 'installed', 'test/installed/delegate']);
}

function clientInteroperability() {
  if (!values.clients) return notRun('type: npm run evidence -- --clients');
  const { status } = spawnSync(process.execPath, ['test/foreign/codex-delegate.mjs'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  return {
    status: status === 0 ? 'passed' : 'failed',
    detail: 'the Codex CLI with a scripted model',
  };
}

function hostInteroperability() {
  return notRun(
    'needs a Computer MCP host; load package/reins.zip into one and record what it says',
  );
}

/** Only on purpose: it uses the account that this user has signed in with. */
async function authenticatedModel() {
  if (!values.model) return notRun('uses your account; type: npm run evidence -- --model');
  const directory = mkdtempSync(join(tmpdir(), 'reins-evidence-'));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(root, 'bin', 'reins.js'), 'delegate'],
    env: process.env,
    cwd: directory,
    stderr: 'inherit',
  });
  const client = new Client({ name: 'reins-evidence', version: '1' });
  try {
    await client.connect(transport);
    const { structuredContent } = await client.callTool(
      { name: 'claude.run', arguments: { prompt: MODEL_TASK, no_session_persistence: true } },
      { timeout: 1_800_000 },
    );
    const { state, error, final_event: event } = structuredContent.result;
    const passed = state === 'completed' && /reins/i.test(event.result);
    const detail = passed
      ? `answered for ${event.total_cost_usd} US dollars by its own count`
      : `${state}: ${error?.message ?? event?.result}`;
    return { status: passed ? 'passed' : 'failed', detail };
  } finally {
    await client.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function notRun(detail) {
  return { status: 'not_run', detail };
}

function vitest(args) {
  const directory = mkdtempSync(join(tmpdir(), 'reins-evidence-'));
  const file = join(directory, 'report.json');
  try {
    say(`running ${args.join(' ')} ...`);
    spawnSync(
      join(root, 'node_modules', '.bin', 'vitest'),
      ['run', ...args, '--reporter=json', `--outputFile=${file}`],
      { cwd: root, stdio: ['ignore', 'ignore', 2] },
    );
    const report = JSON.parse(readFileSync(file, 'utf8'));
    const { numPassedTests: passed, numFailedTests: failed, numTotalTests: all } = report;
    return {
      status: report.success && passed > 0 ? 'passed' : 'failed',
      detail: `${passed} of ${all} tests passed, ${failed} failed, ${all - passed - failed} not run here`,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What a program prints, nothing if it fails. */
function printed(file, ...args) {
  const env = { HOME: '/nonexistent', PATH: '/usr/bin:/bin' };
  const { status, stdout } = spawnSync(file, args, { encoding: 'utf8', env, timeout: 10_000 });
  return status === 0 ? stdout : '';
}

function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}

function readCommit() {
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--dirty'], {
    cwd: root,
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : null;
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function say(line) {
  process.stderr.write(`${line}\n`);
}
