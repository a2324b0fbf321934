import { createServer } from 'node:http';

/**
 * A Responses API on 127.0.0.1 whose model is a script: a generator that yields `{namespace, name, arguments}` for a
 * tool call, is given the text of that call's output, and returns what the assistant says at the end.
 *
 * @param {(request: object) => Generator<object, string, string>} createScript gets the first request's body
 */
export async function startResponsesApi(createScript) {
  const requests = [];
  const failures = [];
  let script;
  let callId;

  const answer = (body) => {
    if (script === undefined) {
      script = createScript(body);
      return script.next();
    }
    const output = body.input.findLast((item) => item.type === 'function_call_output');
    if (output?.call_id !== callId) throw new Error(`no output of ${callId} came back`);
    const { output: value } = output;
    return script.next(typeof value === 'string' ? value : value.map(({ text }) => text).join(''));
  };

  const toItem = ({ done, value }, id) => {
    if (done) {
      const content = [{ type: 'output_text', text: value, annotations: [] }];
      return { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content };
    }
    callId = `call_${id}`;
    const call = { ...value, arguments: JSON.stringify(value.arguments) };
    return { type: 'function_call', id: `fc_${id}`, call_id: callId, status: 'completed', ...call };
  };

  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      requests.push({ method: request.method, url: request.url, headers: request.headers });
      try {
        const turn = answer(JSON.parse(Buffer.concat(chunks).toString('utf8')));
        writeEvents(response, `resp_${requests.length}`, toItem(turn, requests.length));
      } catch (error) {
        failures.push(error);
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: 'the script failed' } }));
      }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}/v1`,
    requests,
    /** Throws what went wrong in the script, which the client itself only sees as a refusal. */
    expectNoFailure() {
      if (failures.length > 0) throw failures[0];
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function writeEvents(response, id, item) {
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const send = (type, fields) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send('response.created', { response: { id, status: 'in_progress' } });
  send('response.output_item.done', { output_index: 0, item });
  send('response.completed', { response: { id, status: 'completed', output: [item], usage } });
  response.end();
}
