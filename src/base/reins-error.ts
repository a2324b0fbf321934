/** Codes that reach an MCP client or the command line. A refusal changed nothing unless its sentence says so. */
export type RequestErrorCode =
  | 'invalid_parameter'
  | 'unknown_parameter'
  | 'reply_too_large'
  | 'reply_empty'
  | 'reply_not_allowed'
  | 'tool_call_invalid'
  | 'tool_not_available'
  | 'working_directory_invalid'
  | 'worktree_refused'
  | 'skill_refused'
  | 'feature_unavailable'
  | 'session_unknown'
  | 'session_busy'
  | 'session_not_running'
  | 'lease_stale'
  | 'lease_expired'
  | 'recovery_token_invalid'
  | 'turn_unknown'
  | 'turn_finished'
  | 'idempotency_conflict'
  | 'recovery_required'
  | 'action_unknown_id'
  | 'undo_refused'
  | 'ledger_broken'
  | 'runner_unreachable'
  | 'runner_lost'
  | 'state_directory_invalid'
  | 'state_from_newer_version'
  | 'state_corrupt'
  | 'storage_failed'
  | 'internal';

/** Codes that keep a session from getting its Claude process; they appear in `launch_error`. */
export type LaunchErrorCode =
  | 'claude_not_found'
  | 'claude_version_unsupported'
  | 'claude_not_executable'
  | 'claude_exited'
  | 'claude_contract_broken'
  | 'confinement_unavailable'
  | 'workspace_unavailable'
  | 'runner_failed';

/** Codes that a file or search tool answers with; the model reads them as an error result. */
export type ToolErrorCode =
  | 'path_not_found'
  | 'path_invalid'
  | 'permission_denied'
  | 'protected_path'
  | 'symbolic_link'
  | 'hard_link'
  | 'not_a_regular_file'
  | 'not_a_directory'
  | 'virtual_filesystem'
  | 'binary_file'
  | 'invalid_utf8'
  | 'file_too_large'
  | 'file_changed'
  | 'read_only_file'
  | 'outside_write_root'
  | 'git_directory'
  | 'text_not_found'
  | 'text_not_unique'
  | 'edit_changes_nothing'
  | 'notebook_invalid'
  | 'cell_not_found'
  | 'offset_out_of_range'
  | 'search_failed'
  | 'cursor_invalid'
  | 'write_failed'
  | 'write_unconfirmed'
  | 'command_refused'
  | 'command_not_found'
  | 'command_timed_out'
  | 'command_stopped'
  | 'command_too_many_processes'
  | 'environment_refused'
  | 'confinement_unavailable'
  | 'subagent_unavailable'
  | 'subagent_unknown'
  | 'not_authorized';

/** Codes that the tools for delegated runs answer with, beside those of a request. */
export type DelegateErrorCode =
  | 'run_unknown'
  | 'run_active'
  | 'run_capacity'
  | 'cleanup_unconfirmed'
  | 'cursor_invalid'
  | 'work_incomplete';

export type ErrorCode = DelegateErrorCode | RequestErrorCode | LaunchErrorCode | ToolErrorCode;

/**
 * The one error type that crosses a module boundary on purpose.
 * `message` is a single sentence naming the field, the limit and what to do instead; nothing may match on it.
 */
export class ReinsError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ReinsError';
    this.code = code;
  }
}
