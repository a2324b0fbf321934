import type { JsonObject } from '../base/canonical-json.ts';
import type { SessionRecord } from '../ledger/sessions.ts';

/** What `--json` says of a session. Named one by one, so that nothing of the ledger's insides slips out with it. */
export function toSessionJson(session: SessionRecord): JsonObject {
  return {
    native_session_id: session.id,
    claude_session_id: session.claudeSessionId,
    status: session.status,
    session_label: session.label,
    capability_profile: session.profile,
    subagent_policy: session.subagentPolicy,
    working_directory: session.workingDirectory,
    revision: session.revision,
    runtime_attached: session.runner !== null,
    lease_expires_at: session.leaseExpiresAt,
    last_result: session.lastResult,
    launch_error: session.launchError,
    stop_request: session.stopRequest,
    created_at: session.createdAt,
    updated_at: session.updatedAt,
  };
}
