/** The first 512 characters stand alone, because some clients show no more. Neutral statements. */
export const INSTRUCTIONS = [
  "Reins hands tasks to the user's own Claude Code on this computer and accounts for every run.",
  'claude.run waits for the outcome; claude.run.start returns a run_id at once, for tasks longer than a call may take, and claude.run.result with wait_seconds picks the outcome up. completed means over; is_error and error say how it went; final_event holds the answer. session_id, given as resume_session_id, goes on with the same conversation in a new run.',
  "claude.run.events shows what happens in between, claude.run.cancel ends a run, claude.run.list shows the runs of this connection, claude.run.release forgets one. Runs act with the user's account and permissions, and cost what the user's account costs.",
].join(' ');
