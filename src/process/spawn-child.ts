import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

/**
 * `spawn` for a machine that has run out of something. What keeps a program from starting comes as an event in any case,
 * and it is no fault that nobody listens to it; where not even pipes could be made, it is thrown, since there is no
 * child to speak of then.
 */
export function spawnChild(
  file: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const child = spawn(file, [...args], options);
  child.on('error', () => {});
  // The types say that it is always there; without descriptors left it is not.
  if (!Array.isArray(child.stdio)) throw new Error('no pipe could be made for a new process');
  return child;
}
