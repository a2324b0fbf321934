import { splitLines } from '../base/split-lines.ts';
import { findSystemProgram } from '../confine/find-system-program.ts';
import { unavailable } from '../confine/unavailable.ts';
import { makeNamedPipes, openNamedPipe } from '../process/named-pipes.ts';
import type { ExecutorServer } from '../tools/executor-server.ts';

/** Largest request of Claude Code's: the arguments of one call, which a reply bounds to 768 KiB before escaping. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** The two named pipes by which Claude Code and the executor talk, one JSON-RPC message a line. */
export interface ExecutorPipes {
  close(): void;
}

/** Makes both pipes anew, so that nothing of an earlier process is left in them. */
export async function makeExecutorPipes(paths: readonly string[]): Promise<void> {
  const mkfifo = findSystemProgram('mkfifo');
  if (mkfifo === undefined) throw unavailable('mkfifo is missing; install coreutils');
  if (await makeNamedPipes(mkfifo, paths)) return;
  throw unavailable(`the pipes ${paths.join(' and ')} could not be made; look at the disk`);
}

export function openExecutorPipes(
  requestsPath: string,
  answersPath: string,
  server: ExecutorServer,
  /** Told of an answer that cannot be given: whoever asked would wait for it without end. */
  onFault: (error: unknown) => void,
): ExecutorPipes {
  const requests = openNamedPipe(requestsPath, 'read');
  const answers = openNamedPipe(answersPath, 'write');
  for (const stream of [requests, answers]) stream.on('error', () => {});
  requests.on('data', splitLines(MAX_LINE_BYTES, take));
  function take(line: string): void {
    server
      .answer(line)
      .then((answer) => {
        if (answer !== undefined && !answers.destroyed) answers.write(`${answer}\n`);
      })
      .catch(onFault);
  }
  return {
    close() {
      requests.destroy();
      answers.destroy();
    },
  };
}
