import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
export const REINS_BIN = join(REPOSITORY, 'bin', 'reins.js');
export const BUILT_ENTRY = join(REPOSITORY, 'dist', 'reins.js');

/** The pinned binary itself, which Reins and the bare runs both start. Throws when it is not installed. */
export function findPinnedClaude() {
  const require = createRequire(import.meta.url);
  const platform = `${process.platform}-${process.arch}`;
  for (const name of [platform, `${platform}-musl`]) {
    try {
      const manifest = require.resolve(`@anthropic-ai/claude-code-${name}/package.json`);
      return join(dirname(manifest), 'claude');
    } catch {
      // The other flavour of this platform may be the installed one.
    }
  }
  throw new Error(`@anthropic-ai/claude-code-${platform} is not installed; type: npm ci`);
}
