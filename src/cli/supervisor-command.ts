import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findSystemProgram } from '../confine/find-system-program.ts';
import type { Command } from '../process/spawn-owned.ts';
import { toAdoptingCommand } from '../process/to-adopting-command.ts';

/** What starts a supervisor, as one that adopts where the system can do that. */
export function supervisorCommand(): Command {
  const built = fileURLToPath(new URL('./supervisor.js', import.meta.url));
  // A test imports this file from src/, where the built supervisor is in dist/.
  const entry = existsSync(built)
    ? built
    : fileURLToPath(new URL('../../dist/supervisor.js', import.meta.url));
  const command = {
    file: process.execPath,
    // It waits most of its life.
    args: ['--max-semi-space-size=1', '--optimize-for-size', entry],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
  };
  return toAdoptingCommand(command, findSystemProgram('perl'));
}
