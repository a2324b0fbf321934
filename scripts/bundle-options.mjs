import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** How every program of this project is bundled. */
export const bundleOptions = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minify: true,
  // The CommonJS form of some libraries asks for its parts in a way that a bundle cannot follow.
  mainFields: ['module', 'main'],
  // libsql and ripgrep carry native files; the client half of the SDK is the demo's alone.
  external: ['libsql', '@vscode/ripgrep', '@modelcontextprotocol/client'],
  // Some bundled CommonJS dependencies call require(); an ES module has none of its own.
  banner: {
    js: "import{createRequire as __reinsRequire}from'node:module';const require=__reinsRequire(import.meta.url);",
  },
  logLevel: 'warning',
  metafile: true,
};
