import type { Socket } from 'node:net';
import { parseJson } from '../base/parse-json.ts';
import { MAX_FRAME_BYTES } from './protocol.ts';

/** One JSON value per line in both directions. */
export function writeFrame(socket: Socket, value: unknown): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(value)}\n`);
}

/**
 * Calls `onFrame` with each line's value, unparsed by any schema, in order. A line that is too long or no JSON ends
 * the connection: a peer that does so is not ours, or broken.
 */
export function readFrames(socket: Socket, onFrame: (value: unknown) => void): void {
  let parts: Buffer[] = [];
  let size = 0;
  socket.on('data', (chunk: Buffer) => {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      parts.push(rest.subarray(0, end));
      const value = parseJson(Buffer.concat(parts).toString('utf8'));
      parts = [];
      size = 0;
      rest = rest.subarray(end + 1);
      if (value === undefined) {
        socket.destroy();
        return;
      }
      onFrame(value);
      if (socket.destroyed) return;
    }
    size += rest.length;
    parts.push(rest);
    if (size > MAX_FRAME_BYTES) socket.destroy();
  });
}
