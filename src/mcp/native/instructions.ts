/**
 * The first 512 characters stand alone, because some clients show no more. Neutral statements: imperatives make
 * ChatGPT warn about a connector.
 */
export const INSTRUCTIONS = [
  'Reins drives a real Claude Code on this computer with the calling conversation as its only model.',
  'native_session_start opens a session and returns a pending turn. native_session_reply_and_wait answers a turn with tool_calls, whose results come with the next turn, or with text, which ends the run. native_session_continue gives the next prompt.',
  'native_session_status shows the state, native_session_recover takes a session over, native_session_stop ends it.',
  'Each call that acts carries an id of the caller; a repetition with the same id does nothing twice. A state that comes back as starting or running is still under way: the same call again, or native_session_status with wait_seconds, picks it up. lease_id, native_session_id and recovery_token of the start are needed later.',
].join(' ');
