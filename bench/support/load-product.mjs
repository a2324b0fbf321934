import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** Bundles the sources that product.mjs names into the workspace and loads them. Native packages stay the installed ones. */
export async function loadProduct(workspace) {
  const outfile = join(workspace.root, 'product.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./product.mjs', import.meta.url))],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    mainFields: ['module', 'main'],
    logLevel: 'warning',
    plugins: [
      {
        name: 'installed-native-packages',
        setup(pending) {
          pending.onResolve({ filter: /^(libsql|@vscode\/ripgrep)$/ }, ({ path }) => ({
            path: import.meta.resolve(path),
            external: true,
          }));
        },
      },
    ],
  });
  return import(pathToFileURL(outfile).href);
}
