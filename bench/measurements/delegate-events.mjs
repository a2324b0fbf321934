import { spawn } from 'node:child_process';
import { alternate } from '../support/alternate.mjs';
import { writeFakeClaude } from '../support/fake-claude.mjs';
import { callTool, connectDelegate } from '../support/gateway.mjs';
import { residentMegabytes } from '../support/processes.mjs';
import { plainResult, ratioResult } from '../support/results.mjs';
import { withWorkspace } from '../support/workspace.mjs';

const STREAM_MEGABYTES = 50;
const EVENT_BYTES = 2_000;
const SAMPLE_MS = 10;

/**
 * A long stream of events in claude.run, against the same program with its output read and thrown away, and by how much
 * the adapter grows meanwhile. Each run has an adapter of its own: one that has grown before does not grow again.
 */
export function measureDelegateEvents({ runs, progress }) {
  return withWorkspace(async (workspace) => {
    const fake = writeFakeClaude(workspace, {
      streamBytes: STREAM_MEGABYTES * 1e6,
      eventBytes: EVENT_BYTES,
    });
    const env = { ...workspace.env, CLAUDE_BIN: fake };
    const growths = [];
    const ours = async () => {
      const { ms, growth } = await runOnce(workspace, env);
      growths.push(growth);
      return toRate(ms);
    };
    const discarding = async () => {
      const startedAt = performance.now();
      await runAndDiscard(fake, env);
      return toRate(performance.now() - startedAt);
    };
    const label = 'delegate: stream of events';
    const figures = await alternate({ pairs: runs, progress, label, ours, baseline: discarding });
    return [
      ratioResult({
        measurement: label,
        unit: 'MB/s',
        ...figures,
        note: `${STREAM_MEGABYTES} MB in events of ${EVENT_BYTES} bytes, from the call to its result, starts included; more is better`,
      }),
      plainResult({
        measurement: 'delegate: growth by the stream',
        unit: 'MB',
        // The first one is of the warm-up.
        samples: growths.slice(1),
        limit: 32,
      }),
    ];
  });
}

async function runOnce(workspace, env) {
  const { client, pid, close } = await connectDelegate(workspace, env);
  try {
    await client.listTools();
    const before = residentMegabytes(pid);
    let peak = before;
    const sampler = setInterval(() => {
      try {
        peak = Math.max(peak, residentMegabytes(pid));
      } catch {
        // It has ended, which the call that waits for it will say.
      }
    }, SAMPLE_MS);
    try {
      const startedAt = performance.now();
      await callTool(client, 'claude.run', { prompt: 'Print.' });
      return { ms: performance.now() - startedAt, growth: peak - before };
    } finally {
      clearInterval(sampler);
    }
  } finally {
    await close();
  }
}

function runAndDiscard(fake, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(fake, [], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.resume();
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`the program that prints events ended (${signal ?? code})`));
    });
  });
}

function toRate(ms) {
  return STREAM_MEGABYTES / (ms / 1000);
}
