import { Socket } from 'node:net';
import { splitLines } from '../../base/split-lines.ts';
import { closeInherited } from '../../process/close-inherited.ts';
import { endFamily } from '../../process/end-family.ts';
import { createFamily } from '../../process/process-family.ts';
import { CHANNEL_FD } from '../../process/spawn-reporting.ts';
import { MARKER_VARIABLE, type SupervisorReport } from './messages.ts';
import { parseCommand } from './parse-command.ts';
import { supervise } from './supervise.ts';

/** A prompt of a megabyte can take six times that in JSON escapes; the environment comes on top. */
const MAX_COMMAND_BYTES = 16 * 1024 * 1024;
/** For what a sweep finds, which its own supervisor should have ended by then. Milliseconds. */
const SWEEP_GRACE_MS = 1_000;

closeInherited();
const channel = new Socket({ fd: CHANNEL_FD, readable: false, writable: true });
channel.on('error', () => {});
let isSupervised = true;
const report = (message: SupervisorReport): void => {
  if (isSupervised) channel.write(`${JSON.stringify(message)}\n`);
};

let run: Promise<void> | undefined;
let requestEnd = (): void => {};
const endRequested = new Promise<void>((resolve) => {
  requestEnd = resolve;
});

process.stdin.on(
  'data',
  splitLines(MAX_COMMAND_BYTES, (line) => {
    const command = parseCommand(line);
    switch (command?.kind) {
      case 'order':
        run ??= supervise(command, endRequested, report).then(leave);
        break;
      case 'end':
        requestEnd();
        break;
      case 'dismiss':
        if (run === undefined) leave();
        break;
      case 'sweep':
        run ??= sweep(command.adapterMarker).then(leave);
        break;
      case undefined:
        // Nothing but the adapter writes here: a line that it cannot have written means that all bets are off.
        requestEnd();
        break;
    }
  }),
);
process.stdin.once('close', () => {
  // The adapter is gone or holds this process for lost. How the run ends from here on is the consequence of that.
  isSupervised = false;
  requestEnd();
  if (run === undefined) leave();
});
process.stdin.on('error', () => {});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, requestEnd);

async function sweep(marker: string): Promise<void> {
  const family = createFamily({
    marker: { variable: MARKER_VARIABLE, name: marker },
    self: process.pid,
  });
  await endFamily(family, SWEEP_GRACE_MS);
}

/** The channel is not ended here: whoever adopted this process has the same one, and a last word to say. */
function leave(): void {
  channel.write('', () => process.exit(0));
}
