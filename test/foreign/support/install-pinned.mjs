import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What runs the programs that need a newer Node than Reins itself does. */
const NODE_22 = '22.23.2';

/** Settings that an install needs from the caller's environment; `npm run` adds others, meant for this project. */
const NPM_SETTINGS =
  /^npm_config_(registry|cache|ca|cafile|strict_ssl|proxy|https?_proxy|noproxy|userconfig|globalconfig)$/i;

/**
 * A package in exactly this version, from npm, in a scratch folder that later runs use again. No install script runs.
 * A folder appears under its final name only when it is complete.
 *
 * @returns {string} the package's own folder
 */
export function installPinned(name, version, say) {
  const folder = join(scratchFolder(), `${name.replace('/', '-')}-${version}`);
  const home = join(folder, 'node_modules', name);
  if (existsSync(join(home, 'package.json'))) {
    say(`${name} ${version} is there already`);
  } else {
    say(`installing ${name} ${version} ...`);
    rmSync(folder, { recursive: true, force: true });
    install(name, version, folder);
  }
  const found = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version;
  if (found !== version) throw new Error(`${folder} holds ${name} ${found}; remove that folder`);
  return home;
}

/** The node binary that the npm package `node` would bring: the package for this platform, taken directly. */
export function installNode22(say) {
  const [platform, arch] = [process.platform, process.arch];
  const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node';
  return join(installPinned(`${prefix}-${platform}-${arch}`, NODE_22, say), 'bin', 'node');
}

function install(name, version, folder) {
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  writeFileSync(
    join(partial, 'package.json'),
    JSON.stringify({ private: true, dependencies: { [name]: version } }),
  );
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^npm_/i.test(key) || NPM_SETTINGS.test(key)),
  );
  const flags = ['--ignore-scripts', '--engine-strict=false', '--include=optional', '--no-audit'];
  const { status, error } = spawnSync(
    'npm',
    ['install', ...flags, '--no-fund', '--no-package-lock', '--loglevel=error'],
    { cwd: partial, env, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  try {
    if (error !== undefined) throw error;
    if (status !== 0) throw new Error(`npm could not install ${name} ${version}`);
    renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** A folder that only this user can write to, since programs are run from it. */
function scratchFolder() {
  const folder = join(tmpdir(), `reins-foreign-${process.getuid()}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stats = lstatSync(folder);
  const isOurs = stats.isDirectory() && stats.uid === process.getuid();
  if (!isOurs || (stats.mode & 0o022) !== 0) {
    throw new Error(`${folder} can be changed by others; remove it`);
  }
  return folder;
}
