import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { spawnChild } from './spawn-child.ts';
import type { Command, OwnedChild } from './spawn-owned.ts';

/** A child with a channel of its own to report on, apart from what it and its children print. */
export interface ReportingChild {
  readonly child: OwnedChild;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** What the child writes to its descriptor 3. */
  readonly channel: Readable;
}

/** The descriptor of the channel, in the child. */
export const CHANNEL_FD = 3;

/** Starts a command as leader of a session and process group of its own. Throws when there is nothing to start it with. */
export function spawnReporting(command: Command): ReportingChild {
  const child = spawnChild(command.file, command.args, {
    cwd: command.cwd,
    env: { ...command.env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  const channel = child.stdio[CHANNEL_FD];
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null || !(channel instanceof Socket)) {
    throw new Error('a stream of a new process is missing');
  }
  for (const stream of [stdin, stdout, stderr, channel]) stream.on('error', () => {});
  return { child, stdin, stdout, stderr, channel };
}
