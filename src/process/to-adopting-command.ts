import type { Command } from './spawn-owned.ts';

/** `prctl` by its number, since no program that every system has sets this by name. */
const PRCTL_NUMBER: Readonly<Record<string, number>> = { x64: 157, arm64: 167 };
const PR_SET_CHILD_SUBREAPER = 36;

/**
 * The same command, started as one that adopts: what its descendants leave behind when they end becomes its own child
 * instead of the system's, so that nothing which it started can get out of its sight. Linux alone, by a perl of the
 * system; without one the command is returned as it is. It keeps its pid, since one program only replaces the other.
 */
export function toAdoptingCommand(command: Command, perl: string | undefined): Command {
  const number = PRCTL_NUMBER[process.arch];
  if (process.platform !== 'linux' || perl === undefined || number === undefined) return command;
  const script = `syscall(${number}, ${PR_SET_CHILD_SUBREAPER}, 1, 0, 0, 0); exec { $ARGV[0] } @ARGV or exit 127`;
  return { ...command, file: perl, args: ['-e', script, command.file, ...command.args] };
}
