// Bundles the entry points into dist/. Bundling is what keeps a gateway's start and memory small:
// unused parts of the libraries (zod's locales, the SDK's client half) never reach the process.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions, root } from './bundle-options.mjs';

const output = join(root, 'dist');
const common = { ...bundleOptions, outdir: 'dist', sourcemap: 'linked' };
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
