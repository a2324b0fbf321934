// Bundles the entry points into dist/. Bundling is what keeps a gateway's start and memory small:
// unused parts of the libraries (zod's locales, the SDK's client half) never reach the process.
// libsql and ripgrep stay outside because they carry native files.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

const output = join(root, 'dist');

const common = {
  absWorkingDir: root,
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: 'linked',
  minify: true,
  // The CommonJS form of some libraries asks for its parts in a way that a bundle cannot follow.
  mainFields: ['module', 'main'],
  external: ['libsql', '@vscode/ripgrep', '@modelcontextprotocol/client'],
  // Some bundled CommonJS dependencies call require(); an ES module has none of its own.
  banner: {
    js: "import{createRequire as __reinsRequire}from'node:module';const require=__reinsRequire(import.meta.url);",
  },
  logLevel: 'warning',
  metafile: true,
};
const results = await Promise.all([
  // Commands load what they need when they need it.
  build({
    ...common,
    entryPoints: { reins: 'src/cli/main.ts', demo: 'src/cli/demo/main.ts' },
    splitting: true,
    keepNames: true,
  }),
  // A runner needs all of it at once, before Claude Code can start: one file loads faster than many.
  build({ ...common, entryPoints: { runner: 'src/runner/main.ts' } }),
  // One starts with every delegated run, so it loads nothing that it does not need.
  build({ ...common, entryPoints: { supervisor: 'src/delegate/supervisor/main.ts' } }),
]);

// Old files go last: a gateway or runner that is just starting finds either the old set or the new one.
const outputs = results.flatMap((result) => Object.keys(result.metafile.outputs));
const written = new Set(outputs.map((path) => basename(path)));
await mkdir(output, { recursive: true });
for (const name of await readdir(output)) {
  if (!written.has(name)) await rm(join(output, name), { recursive: true, force: true });
}
