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
): ExecutorPipes {
  const requests = openNamedPipe(requestsPath, 'read');
  const answers = openNamedPipe(answersPath, 'write');
  for (const stream of [requests, answers]) stream.on('error', () => {});
  let parts: Buffer[] = [];
  let size = 0;
  requests.on('data', (chunk: Buffer) => {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      parts.push(rest.subarray(0, end));
      if (size + end <= MAX_LINE_BYTES) take(Buffer.concat(parts).toString('utf8'));
      parts = [];
      size = 0;
      rest = rest.subarray(end + 1);
    }
    size += rest.length;
    if (size <= MAX_LINE_BYTES) parts.push(rest);
    else parts = [];
  });
  function take(line: string): void {
    void server.answer(line).then((answer) => {
      if (answer !== undefined && !answers.destroyed) answers.write(`${answer}\n`);
    });
  }
  return {
    close() {
      requests.destroy();
      answers.destroy();
    },
  };
}
