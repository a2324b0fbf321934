import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { REINS_BIN } from './product-files.mjs';

/**
 * Spawn of `reins stdio` or `reins delegate` until tools/list is answered, and the size of that answer. Without a
 * client library.
 */
export async function startToTools({ workspace, command, tools }) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [REINS_BIN, command], {
    env: workspace.env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const receive = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`reins ${command} ended before it answered`);
    return JSON.parse(value);
  };
  try {
    send({
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'reins-bench', version: '1' },
      },
    });
    await receive();
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/list' });
    const { result } = await receive();
    const ms = performance.now() - startedAt;
    if (result?.tools?.length !== tools) {
      throw new Error(`tools/list of reins ${command} did not bring ${tools} tools`);
    }
    return { ms, bytes: Buffer.byteLength(JSON.stringify(result)) };
  } finally {
    child.stdin.end();
    await ended;
  }
}
