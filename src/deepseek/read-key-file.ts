import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { ReinsError } from '../base/reins-error.ts';
import { systemErrorCode } from '../base/system-error-code.ts';

/** Longer than any key; it keeps a wrong file from being sent as one. Bytes. */
const MAX_KEY_FILE_BYTES = 4096;

/**
 * The key in a file that its owner alone can read: one line. Null where there is no such file. Throws
 * `invalid_parameter` for a file that others can read, that belongs to somebody else or that holds no key. The error goes
 * to clients: it shows neither what is in the file nor where it is.
 */
export function readKeyFile(path: string): string | null {
  let fd: number;
  try {
    // A pipe is opened at once and found out below.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw refusal(`cannot be read (${systemErrorCode(error) ?? 'unknown reason'})`);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw refusal('is no regular file');
    if (process.getuid !== undefined && stat.uid !== process.getuid()) {
      throw refusal('belongs to another user');
    }
    if ((stat.mode & 0o077) !== 0) {
      throw refusal('can be read by others; give it mode 0600');
    }
    if (stat.size > MAX_KEY_FILE_BYTES) {
      throw refusal(`is longer than ${MAX_KEY_FILE_BYTES} bytes`);
    }
    const key = readFileSync(fd, 'utf8').trim();
    if (!isKey(key)) throw refusal('has to hold the key and nothing else');
    return key;
  } finally {
    closeSync(fd);
  }
}

/** What goes into a header and through JSON unchanged; and long enough that finding it somewhere means something. */
export function isKey(text: string): boolean {
  return /^[A-Za-z0-9._~:+=-]{8,1024}$/.test(text);
}

function refusal(reason: string): ReinsError {
  return new ReinsError(
    'invalid_parameter',
    `The DeepSeek key file of the gateway ${reason}; correct it ("reins doctor" shows where it is) or set REINS_DEEPSEEK_API_KEY instead.`,
  );
}
