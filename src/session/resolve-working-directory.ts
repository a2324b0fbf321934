import { realpath, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { ReinsError } from '../base/reins-error.ts';
import { systemErrorCode } from '../base/system-error-code.ts';
import type { CapabilityProfile } from '../ledger/sessions.ts';

/** The real path of the directory that a caller named. Throws `working_directory_invalid`. */
export async function resolveWorkingDirectory(
  named: string,
  profile: CapabilityProfile,
): Promise<string> {
  if (!isAbsolute(named) || named.includes('\0')) {
    throw invalid(`is "${named}" and has to be an absolute path, such as /home/you/project`);
  }
  const resolved = await realpath(named).catch((error: unknown) => {
    throw invalid(`"${named}" cannot be opened (${describe(error)}); name an existing directory`);
  });
  if (!(await stat(resolved)).isDirectory()) {
    throw invalid(`"${named}" is not a directory; name the directory that contains it`);
  }
  if (profile !== 'read_only' && resolved === '/') {
    throw invalid('"/" cannot be a write root; name the directory that holds the files to change');
  }
  return resolved;
}

function invalid(what: string): ReinsError {
  return new ReinsError('working_directory_invalid', `working_directory ${what}.`);
}

function describe(error: unknown): string {
  switch (systemErrorCode(error)) {
    case 'ENOENT':
      return 'it does not exist';
    case 'EACCES':
    case 'EPERM':
      return 'the operating system denies access';
    default:
      return systemErrorCode(error) ?? 'unknown reason';
  }
}
