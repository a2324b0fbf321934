import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { ReinsError } from '../../base/reins-error.ts';
import { resolvePath, toPathError } from '../resolve-path.ts';
import { showPath } from '../show-path.ts';
import type { ToolContext } from '../tool.ts';

/** The directory that a command is to run in: real, open to the session, and a directory. */
export async function resolveDirectory(named: string, context: ToolContext): Promise<string> {
  const path = await resolvePath(named, context);
  try {
    if ((await realpath(path)) !== path) {
      throw new ReinsError(
        'symbolic_link',
        `cwd ${path} leads through a symbolic link; name the directory itself, ${await realpath(path)}.`,
      );
    }
    if ((await stat(path)).isDirectory()) return path;
  } catch (error) {
    throw toPathError(error, path);
  }
  throw new ReinsError('not_a_directory', `cwd ${path} is not a directory; name one.`);
}

/** Throws `command_not_found`, so that a missing program is told apart from one that failed. */
export async function requireProgram(name: string, cwd: string, searchPath: string): Promise<void> {
  const places = name.includes('/')
    ? [isAbsolute(name) ? name : resolve(cwd, name)]
    : searchPath.split(delimiter).map((directory) => join(directory, name));
  for (const place of name === '' ? [] : places) {
    const executable = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable && (await stat(place)).isFile()) return;
  }
  const where = name.includes('/')
    ? 'there is no such executable file'
    : `it is in none of ${searchPath}`;
  throw new ReinsError(
    'command_not_found',
    `argv[0] is "${showPath(name.slice(0, 200))}", and ${where}; give the path of an installed program, or of an executable of the session directory with "./" in front.`,
  );
}
