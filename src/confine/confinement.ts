import type { ConfinedCommand } from '../process/confined-command.ts';
import type { Command } from '../process/spawn-owned.ts';
import type { ClaudePlaces } from './claude-places.ts';
import type { CommandRequest } from './command-request.ts';

/** What a command's writes come to. In both modes none of them reaches a file of this computer. */
export type WriteMode = 'throw_away' | 'read_only';

export interface ConfinedRun extends ConfinedCommand {
  readonly writes: WriteMode;
  /** How many processes the run has right now, by the pid of the child; undefined when that cannot be told. */
  countProcesses(child: number): number | undefined;
}

/** A program and the directories that it may see. Later directories lie on top of earlier ones. */
export interface ToolRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

/** What keeps the processes of a session in, on this computer. */
export interface Confinement {
  /** One sentence that says what is enforced here, for whoever reads a session's state. */
  readonly boundary: string;
  /** How the places of a session's Claude Code look from inside. */
  claudePlaces(outside: ClaudePlaces): ClaudePlaces;
  confineClaude(
    outside: ClaudePlaces,
    program: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> },
  ): ConfinedCommand;
  /**
   * Wraps a program that works on these directories and sees nothing else of this computer but the system programs:
   * no network, no home directory. Used for Git on repositories that nobody vouches for.
   */
  confineTool(request: ToolRequest): Command;
  /** Prepares one run of a command; what it puts into the stage is for the caller to remove. Throws `confinement_unavailable`. */
  confineCommand(request: CommandRequest): Promise<ConfinedRun>;
}
