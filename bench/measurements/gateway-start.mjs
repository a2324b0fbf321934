import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { REINS_BIN } from '../support/product-files.mjs';
import { plainResult } from '../support/results.mjs';
import { withWorkspace } from '../support/workspace.mjs';

/** Spawn of `reins stdio` until tools/list is answered, and the size of that answer. Without a client library. */
export function measureGatewayStart({ runs, progress }) {
  return withWorkspace(async (workspace) => {
    const times = [];
    const sizes = [];
    for (let run = 0; run <= runs; run += 1) {
      progress.say(`gateway start: ${run === 0 ? 'warm-up' : `run ${run} of ${runs}`}`);
      const { ms, bytes } = await startOnce(workspace);
      if (run === 0) continue;
      times.push(ms);
      sizes.push(bytes);
    }
    return [
      plainResult({
        measurement: 'gateway start to tools/list',
        unit: 'ms',
        samples: times,
        limit: 300,
      }),
      plainResult({
        measurement: 'size of tools/list',
        unit: 'bytes',
        samples: sizes,
        limit: 16_384,
      }),
    ];
  });
}

async function startOnce(workspace) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [REINS_BIN, 'stdio'], {
    env: workspace.env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const receive = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the gateway ended before it answered');
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
    if (result?.tools?.length !== 6) throw new Error('tools/list did not bring six tools');
    return { ms, bytes: Buffer.byteLength(JSON.stringify(result)) };
  } finally {
    child.stdin.end();
    await ended;
  }
}
