import type { SessionId } from '../base/ids.ts';
import type { LaunchErrorRecord, ProcessRecord, RunnerRecord } from '../ledger/sessions.ts';
import type { RunnerConnection } from '../wire/runner-connection.ts';

/** Whether the runner that the ledger names can be spoken to. */
export type RunnerLookup =
  | { readonly kind: 'attached'; readonly connection: RunnerConnection }
  /** The very process that was recorded has ended. */
  | { readonly kind: 'gone' }
  /** The process is there and does not answer, so nothing is known and nothing may be concluded. */
  | { readonly kind: 'silent' };

/** What a gateway needs of processes. Implemented where processes may be started. */
export interface RunnerPort {
  find(session: SessionId, runner: RunnerRecord): Promise<RunnerLookup>;
  /** Whether the very process that was recorded still runs. */
  isAlive(process: ProcessRecord): boolean;
  /** Ends a Claude Code whose runner is gone. */
  endLeftover(claude: ProcessRecord): Promise<void>;
  /** Starts a runner on the session's queued prompt. Resolves when it serves or could not; null when it serves. */
  launch(session: SessionId): Promise<LaunchErrorRecord | null>;
}
