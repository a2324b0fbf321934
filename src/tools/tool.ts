import type * as z from 'zod';
import type { ToolErrorCode } from '../base/reins-error.ts';
import type { PathProtection } from '../confine/path-protection.ts';
import type { ActionRecord } from '../ledger/actions.ts';
import type { CommandRuntime } from './command/command-runtime.ts';
import type { SubagentRuntime } from './subagent/subagent-runtime.ts';

/** What a tool may know of its session. */
export interface ToolContext {
  /** Where relative paths start. Absolute and free of symbolic links. */
  readonly workingDirectory: string;
  /** The only place where files may be changed; null in a session that only reads. */
  readonly writeRoot: string | null;
  readonly protection: PathProtection;
  /** What commands are run with; null where none can be, as in a gateway. */
  readonly commands: CommandRuntime | null;
  /** What subagents are run with; null where none may be. */
  readonly subagents: SubagentRuntime | null;
  /** Ends looks that are under way. */
  readonly stopping?: AbortSignal;
  /** SHA-256 of the content of `path` that the one whose calls these are saw or wrote last. */
  lastSeen(path: string): string | undefined;
}

/** What a tool has to say, within the limit of a receipt. */
export interface ToolAnswer {
  readonly text: string;
  readonly truncated: boolean;
}

/** A look at something. `seen` names the file and the content that were looked at, when it was one whole file. */
export interface Observation extends ToolAnswer {
  readonly seen?: { readonly path: string; readonly sha256: string };
}

/** A file as it is and as it is to become. Nothing has been changed yet. */
export interface FileChange {
  readonly path: string;
  /** Null when the file does not exist yet. */
  readonly before: { readonly bytes: Buffer; readonly mode: number } | null;
  readonly after: Buffer;
  /** What to answer once the change is on disk. */
  readonly answer: ToolAnswer;
}

interface ToolBase<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
}

/** A tool that looks; several may run at once. */
export interface ObservingTool<Input = unknown> extends ToolBase<Input> {
  readonly kind: 'observe';
  execute(input: Input, context: ToolContext): Promise<Observation>;
}

/** A tool that changes one file; the executor does the changing, so that every tool does it the same way. */
export interface ChangingTool<Input = unknown> extends ToolBase<Input> {
  readonly kind: 'change';
  prepare(input: Input, context: ToolContext): Promise<FileChange>;
}

/** What a command came to. `failure` is set when it was ended, and not when it ended with an exit code of its own. */
export interface CommandResult extends ToolAnswer {
  readonly failure: ToolErrorCode | undefined;
}

/** A tool that runs a program; after the changes before it and one at a time. */
export interface CommandTool<Input = unknown> extends ToolBase<Input> {
  readonly kind: 'command';
  /** `signal` ends what it runs. */
  execute(input: Input, context: ToolContext, signal: AbortSignal): Promise<CommandResult>;
}

/** What a tool set going. */
export interface ControlResult extends ToolAnswer {
  /** Written in the transaction that ends the action, so that both are durable or neither is. */
  record?(at: string): void;
  /** What follows once that is durable. */
  begin?(): void;
}

/** A tool that has to do with a subagent and touches nothing itself. */
export interface ControlTool<Input = unknown> extends ToolBase<Input> {
  readonly kind: 'control';
  perform(input: Input, context: ToolContext, action: ActionRecord): Promise<ControlResult>;
}

/** A tool behind one face, its input already tied to its schema. */
export type Tool = ObservingTool | ChangingTool | CommandTool | ControlTool;

export function defineObservingTool<Input>(tool: Omit<ObservingTool<Input>, 'kind'>): Tool {
  return {
    ...tool,
    kind: 'observe',
    execute: (input, context) => tool.execute(tool.input.parse(input), context),
  };
}

export function defineChangingTool<Input>(tool: Omit<ChangingTool<Input>, 'kind'>): Tool {
  return {
    ...tool,
    kind: 'change',
    prepare: (input, context) => tool.prepare(tool.input.parse(input), context),
  };
}

export function defineCommandTool<Input>(tool: Omit<CommandTool<Input>, 'kind'>): Tool {
  return {
    ...tool,
    kind: 'command',
    execute: (input, context, signal) => tool.execute(tool.input.parse(input), context, signal),
  };
}

export function defineControlTool<Input>(tool: Omit<ControlTool<Input>, 'kind'>): Tool {
  return {
    ...tool,
    kind: 'control',
    perform: (input, context, action) => tool.perform(tool.input.parse(input), context, action),
  };
}
