import { appendFileSync, chmodSync, closeSync, openSync, writeSync } from 'node:fs';

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Callers pass no prompts, file contents, tokens or keys. */
export interface Log {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/**
 * A log for people who run Reins: one JSON line a record, to stderr, or to a file (0600) when a path is given. Never to
 * stdout, which belongs to MCP. A record that cannot be written is dropped: a full disk must not end a session twice.
 */
export function createLog(name: string, path?: string): Log {
  if (path !== undefined) {
    closeSync(openSync(path, 'a', 0o600));
    chmodSync(path, 0o600);
  }
  const write = (level: string, fields: LogFields, message: string): void => {
    const record = { time: new Date().toISOString(), level, name, ...fields, message };
    const line = `${JSON.stringify(record)}\n`;
    try {
      if (path === undefined) writeSync(2, line);
      else appendFileSync(path, line);
    } catch {
      // There is nobody left to tell.
    }
  };
  return {
    info: (fields, message) => write('info', fields, message),
    warn: (fields, message) => write('warn', fields, message),
    error: (fields, message) => write('error', fields, message),
  };
}
