import type { ChildProcess } from 'node:child_process';
import type { Command } from './spawn-owned.ts';

/** A command with what keeps it in already around it. */
export interface ConfinedCommand {
  readonly command: Command;
  /**
   * The pid of the program that was confined, seen from here; undefined when it never came to run. The child itself
   * may be a keeper that a polite signal ends at once, and all that it keeps with it.
   */
  findProgram(child: ChildProcess): Promise<number | undefined>;
}
