// Brings a fresh clone to the point where everything runs: dependencies, build and, on Linux, bubblewrap.
// Does nothing when nothing has changed. Uses what comes with Node alone, since nothing is installed yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const MIN_NODE = [20, 19];

requireNode();
if (changed('node_modules/.reins-lock', ['package-lock.json'])) {
  say('Installing dependencies (about a minute the first time) ...');
  // No install script of a dependency is needed, so none is run.
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  remember('node_modules/.reins-lock', ['package-lock.json']);
}
const sources = [
  ...['package.json', 'package-lock.json', 'scripts/build.mjs', 'scripts/bundle-options.mjs'],
  ...filesBelow('src'),
  ...filesBelow('contract'),
];
if (changed('dist/.reins-sources', sources)) {
  say('Building ...');
  run(process.execPath, ['scripts/build.mjs']);
  remember('dist/.reins-sources', sources);
}
if (process.platform === 'linux') ensureBubblewrap();

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) return;
  say(`Reins needs Node ${MIN_NODE.join('.')} or newer, and this is ${process.versions.node}.`);
  process.exit(1);
}

/** Confinement needs it. Its absence stops nothing here: what depends on it says so itself. */
function ensureBubblewrap() {
  if (succeeds('bwrap', ['--version'])) return;
  const command = 'apt-get install -y bubblewrap';
  const mayInstall = succeeds('apt-get', ['--version']);
  const prefix = process.getuid() === 0 ? [] : ['sudo', '-n'];
  if (mayInstall && (prefix.length === 0 || succeeds('sudo', ['-n', 'true']))) {
    say('Installing bubblewrap ...');
    const apt = (...args) => {
      const [file, ...rest] = [...prefix, 'apt-get', '-qq', ...args];
      return succeeds(file, rest, { DEBIAN_FRONTEND: 'noninteractive' });
    };
    if (apt('install', '-y', 'bubblewrap')) return;
    if (apt('update') && apt('install', '-y', 'bubblewrap')) return;
  }
  say(`bubblewrap is missing. Type: sudo ${command}   (or your distribution's equivalent)`);
}

function changed(stamp, files) {
  const path = join(root, stamp);
  return !existsSync(path) || readFileSync(path, 'utf8') !== fingerprint(files);
}

function remember(stamp, files) {
  writeFileSync(join(root, stamp), fingerprint(files));
}

function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function filesBelow(directory) {
  return readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();
}

function run(file, args) {
  const result = spawnSync(file, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.status === 0) return;
  say(`"${[file, ...args].join(' ')}" failed; what it printed above says why.`);
  process.exit(1);
}

function succeeds(file, args, env = {}) {
  return spawnSync(file, args, { stdio: 'ignore', env: { ...process.env, ...env } }).status === 0;
}

function say(line) {
  process.stderr.write(`${line}\n`);
}
