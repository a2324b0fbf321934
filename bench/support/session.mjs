import { callTool, freshKey } from './gateway.mjs';

/** A session of the drive door that is answered by a script. Each call resolves with the new state. */
export async function startSession(client, workingDirectory) {
  const first = await callTool(client, 'native_session_start', {
    prompt: 'Do what the script says.',
    working_directory: workingDirectory,
    idempotency_key: freshKey(),
  });
  requirePendingTurn(first);
  let state = first;
  const call = async (tool, args) => {
    state = await callTool(client, `native_session_${tool}`, {
      native_session_id: first.native_session_id,
      lease_id: first.lease_id,
      ...args,
    });
    return state;
  };
  const reply = (answer) =>
    call('reply_and_wait', {
      turn_id: state.pending_turn?.turn_id,
      reply_id: freshKey(),
      ...answer,
    });
  return {
    first,
    /** Answers with one Read; throws unless the next turn brings the file. */
    async read(path) {
      const next = await reply({ tool_calls: [{ name: 'Read', input: { file_path: path } }] });
      requirePendingTurn(next);
      const results = next.pending_turn.messages.filter(({ kind }) => kind === 'tool_result');
      if (results.length !== 1 || results[0].is_error || results[0].truncated) {
        throw new Error(`Read did not bring ${path}: ${JSON.stringify(results).slice(0, 300)}`);
      }
      return next;
    },
    /** Ends the run with a text. */
    async finish() {
      const done = await reply({ text: 'Done.' });
      if (done.status !== 'completed') throw new Error(`the run is ${done.status}, not completed`);
      return done;
    },
    async continue() {
      const next = await call('continue', { prompt: 'Go on.', idempotency_key: freshKey() });
      requirePendingTurn(next);
      return next;
    },
    stop: () => call('stop', { request_id: freshKey() }),
  };
}

function requirePendingTurn(state) {
  if (state.pending_turn !== null) return;
  throw new Error(`no turn is pending: ${state.status} ${state.launch_error?.message ?? ''}`);
}
