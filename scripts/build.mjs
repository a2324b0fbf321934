// Bundles the entry points into dist/. Bundling is what keeps a gateway's start and memory small:
// unused parts of the libraries (zod's locales, the SDK's client half) never reach the process.
// libsql and ripgrep stay outside because they carry native files.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

const output = join(root, 'dist');

const result = await build({
  absWorkingDir: root,
  entryPoints: {
    reins: 'src/cli/main.ts',
    runner: 'src/runner/main.ts',
    demo: 'src/cli/demo/main.ts',
  },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: 'linked',
  minify: true,
  keepNames: true,
  external: ['libsql', '@vscode/ripgrep', '@modelcontextprotocol/client'],
  // Some bundled CommonJS dependencies call require(); an ES module has none of its own.
  banner: {
    js: "import{createRequire as __reinsRequire}from'node:module';const require=__reinsRequire(import.meta.url);",
  },
  logLevel: 'warning',
  metafile: true,
});

// Old files go last: a gateway or runner that is just starting finds either the old set or the new one.
const written = new Set(Object.keys(result.metafile.outputs).map((path) => basename(path)));
await mkdir(output, { recursive: true });
for (const name of await readdir(output)) {
  if (!written.has(name)) await rm(join(output, name), { recursive: true, force: true });
}
