import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from './text.mjs';

const SESSION = '11111111-2222-4333-8444-555555555555';
const RESULT = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  session_id: SESSION,
  result: 'done',
};
/** Single events would be written more slowly than they are read. */
const BURST_BYTES = 64 * 1024;

/**
 * Writes a program into the workspace that `reins delegate` takes for Claude Code. Whatever it is asked, it prints events
 * of about `eventBytes`, about `streamBytes` in all and as fast as they are read, and then a result. Returns its path.
 */
export function writeFakeClaude(workspace, { streamBytes, eventBytes }) {
  const burst = `${toEvent(eventBytes)}\n`.repeat(Math.ceil(BURST_BYTES / eventBytes));
  const path = join(workspace.root, 'claude.mjs');
  writeFileSync(
    path,
    `#!${process.execPath}
import { once } from 'node:events';

if (process.argv[2] === '--version') process.stdout.write('2.1.247 (Claude Code)\\n');
else {
  const burst = Buffer.from(${JSON.stringify(burst)});
  for (let written = 0; written < ${streamBytes}; written += burst.length) {
    if (!process.stdout.write(burst)) await once(process.stdout, 'drain');
  }
  process.stdout.write(${JSON.stringify(`${JSON.stringify(RESULT)}\n`)});
}
`,
  );
  chmodSync(path, 0o755);
  return path;
}

function toEvent(bytes) {
  const withText = (text) =>
    JSON.stringify({
      type: 'assistant',
      session_id: SESSION,
      message: { role: 'assistant', content: [{ type: 'text', text }] },
    });
  return withText(textOf(bytes - withText('').length));
}
