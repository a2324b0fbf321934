import type { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Log } from '../base/log.ts';

/** A line on stdin: a reply of 768 KiB can take six times that in JSON escapes. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** Tells when it is closed, by whomever and for whatever reason: a line that is too long is one. */
class WatchedTransport extends StdioServerTransport {
  onClosed = (): void => {};

  override async close(): Promise<void> {
    await super.close();
    this.onClosed();
  }
}

/** Serves one client over stdin and stdout. Resolves when the client has closed its end, or cannot be served any more. */
export function serveOverStdio(createServer: () => Server, log: Log): Promise<void> {
  return new Promise((resolve) => {
    const transport = new WatchedTransport(process.stdin, process.stdout, {
      maxBufferSize: MAX_LINE_BYTES,
    });
    transport.onClosed = resolve;
    process.stdin.once('close', resolve);
    process.stdin.once('end', resolve);
    serveStdio(createServer, {
      transport,
      onerror: (error) => log.warn({ error: error.message }, 'transport'),
    });
  });
}
