import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findSystemProgram } from '../confine/find-system-program.ts';
import type { SupervisorLaunch } from '../delegate/supervision.ts';
import type { Command } from '../process/spawn-owned.ts';
import { toAdoptingCommand } from '../process/to-adopting-command.ts';

/** How supervisors are started on this computer: below one that adopts, where the system has what that takes. */
export async function supervisorLaunch(): Promise<SupervisorLaunch> {
  const command = supervisorCommand();
  const adopting = await toAdoptingCommand(command, findSystemProgram('perl'));
  return { command: adopting ?? command, isAdopted: adopting !== null };
}

export function supervisorCommand(): Command {
  const built = fileURLToPath(new URL('./supervisor.js', import.meta.url));
  // A test imports this file from src/, where the built supervisor is in dist/.
  const entry = existsSync(built)
    ? built
    : fileURLToPath(new URL('../../dist/supervisor.js', import.meta.url));
  return {
    file: process.execPath,
    // It waits most of its life.
    args: ['--max-semi-space-size=1', '--optimize-for-size', entry],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
  };
}
