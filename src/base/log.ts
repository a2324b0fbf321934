import pino from 'pino';

export type Log = pino.Logger;

/**
 * A log for people who run Reins: JSON lines to stderr, or to a file (0600) when a path is given.
 * Never stdout, which belongs to MCP. Callers pass no prompts, file contents, tokens or keys.
 */
export function createLog(name: string, path?: string): Log {
  const destination = path
    ? pino.destination({ dest: path, mode: 0o600, sync: true })
    : pino.destination({ dest: 2, sync: true });
  return pino({ name, base: { name }, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}
