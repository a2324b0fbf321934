import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
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

/** Starts a command as leader of a session and process group of its own. */
export function spawnReporting(command: Command): ReportingChild {
  const child = spawn(command.file, [...command.args], {
    cwd: command.cwd,
    env: { ...command.env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  const channel = child.stdio[CHANNEL_FD];
  const { stdin, stdout, stderr } = child;
  if (channel === null || channel === undefined || !('read' in channel)) {
    throw new Error('the channel of a child is missing');
  }
  for (const stream of [stdin, stdout, stderr, channel]) stream.on('error', () => {});
  return { child, stdin, stdout, stderr, channel };
}
