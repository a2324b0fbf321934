// npm run package:plugin [-- --out DIRECTORY]: the plugin package for Computer MCP hosts, as a ZIP whose bytes depend on
// the source alone: no times, no order of the file system, no compressor's choices.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { zipSync } from 'fflate';
import { bundleOptions, root } from './bundle-options.mjs';

/** The first moment that a ZIP can name. */
const NO_TIME = new Date(1980, 0, 1);
const UNIX = 3;
const MODES = { file: 0o100644, program: 0o100755 };

const { values } = parseArgs({
  options: { out: { type: 'string', default: join(root, 'package') } },
});
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const files = { ...readTree(join(root, 'plugin')), ...(await bundle()) };
files['cli-tree.json'] = readFileSync(join(root, 'contract', 'cli-tree.json'));
files['LICENSE'] = readFileSync(join(root, 'LICENSE'));

const archive = zipSync(
  Object.fromEntries(
    Object.keys(files)
      .sort()
      .map((name) => {
        const mode = name.startsWith('bin/') ? MODES.program : MODES.file;
        return [name, [files[name], { level: 0, mtime: NO_TIME, os: UNIX, attrs: mode << 16 }]];
      }),
  ),
);
mkdirSync(values.out, { recursive: true });
const path = join(values.out, 'reins.zip');
writeFileSync(path, archive);
const sha256 = createHash('sha256').update(archive).digest('hex');
process.stdout.write(
  `${JSON.stringify({ id: 'reins', version, path, bytes: archive.length, sha256 })}\n`,
);

function readTree(directory) {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [relative(directory, file), readFileSync(file)]),
  );
}

/** The adapter and its supervisor, each one file, since a package brings no dependencies. */
async function bundle() {
  const { outputFiles } = await build({
    ...bundleOptions,
    entryPoints: {
      delegate: 'src/cli/adapter/main.ts',
      supervisor: 'src/delegate/supervisor/main.ts',
    },
    outdir: 'lib',
    write: false,
  });
  return Object.fromEntries(
    outputFiles.map((file) => [relative(root, file.path), Buffer.from(file.contents)]),
  );
}
