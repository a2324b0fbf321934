import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { runCommand } from './run-command.ts';

const MAKE_TIMEOUT_MS = 5_000;

/** Makes named pipes, each anew, for this user alone. `mkfifo` is its absolute path. Returns whether it could. */
export async function makeNamedPipes(mkfifo: string, paths: readonly string[]): Promise<boolean> {
  for (const path of paths) rmSync(path, { force: true });
  const made = await runCommand(
    { file: mkfifo, args: ['-m', '600', ...paths], cwd: '/', env: {} },
    { timeoutMs: MAKE_TIMEOUT_MS, maxBytes: 4096 },
  );
  return made.ended === 'exit' && made.exitCode === 0;
}

/**
 * One end of a named pipe. It is opened for both directions, so that opening never waits for the other side and a
 * writer that comes and goes does not end the reading.
 */
export function openNamedPipe(path: string, direction: 'read' | 'write'): Socket {
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  return new Socket({ fd, readable: direction === 'read', writable: direction === 'write' });
}

/**
 * Both ends of a pipe: the writing one as a descriptor for a child, to be closed here when the child has it. Reading
 * ends with the last writer. What Node itself would give a child is a socket, which programs cannot open by the name
 * /dev/stdout.
 */
export function openBothEnds(path: string): {
  readonly reader: Socket;
  readonly writerFd: number;
  closeWriter(): void;
} {
  const readerFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writerFd = openSync(path, constants.O_WRONLY);
  rmSync(path);
  return {
    reader: new Socket({ fd: readerFd, readable: true, writable: false }),
    writerFd,
    closeWriter: () => closeSync(writerFd),
  };
}
