// Foreign MCP clients drive Reins: each part is a program of its own and is judged by its exit code.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PARTS = [
  new URL('./codex.mjs', import.meta.url),
  new URL('./codex-delegate.mjs', import.meta.url),
  new URL('./inspector.mjs', import.meta.url),
  new URL('./conformance.mjs', import.meta.url),
];

const failed = PARTS.filter((part) => {
  const { status } = spawnSync(process.execPath, [fileURLToPath(part)], { stdio: 'inherit' });
  process.stdout.write('\n');
  return status !== 0;
});
process.stdout.write(`${PARTS.length - failed.length} passed, ${failed.length} failed\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
