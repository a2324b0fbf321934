import type { ActionRecord } from '../../ledger/actions.ts';
import type { SubagentClass } from '../../ledger/subsessions.ts';

export interface SubagentTask {
  readonly task: string;
  readonly modelClass: SubagentClass;
  readonly maxTurns: number;
  readonly maxMinutes: number;
}

/** A subagent that is about to be started. */
export interface PlannedSubagent {
  readonly id: string;
  /** Makes it durable, inside the transaction that ends its action. */
  record(at: string): void;
  /** Starts its process, once it is durable. */
  begin(): void;
}

/** What the tools for subagents do their work with. Only a runner of a session that may have one has it. */
export interface SubagentRuntime {
  /** Throws `subagent_unavailable`. */
  plan(task: SubagentTask, action: ActionRecord): PlannedSubagent;
  /** What there is to tell of this one, or of the latest, as JSON. Throws `subagent_unknown`. */
  describe(id: string | undefined): string;
  /** Resolves when it has ended and the ledger says so, after `timeoutMs` in any case. */
  ended(id: string | undefined, timeoutMs: number): Promise<void>;
  /** Ends it, or the active one. Resolves when it has ended and the ledger says so. Throws `subagent_unknown`. */
  stop(id: string | undefined): Promise<void>;
}
