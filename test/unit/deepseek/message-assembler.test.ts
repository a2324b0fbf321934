import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MessageAssembler } from '../../../src/deepseek/message-assembler.ts';
import { toEvents } from '../../support/deepseek.ts';

const toData = (stream: string): string[] =>
  stream.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));

function assemble(data: readonly string[]) {
  const assembler = new MessageAssembler();
  for (const each of data) assembler.take(each);
  return assembler.finish();
}

const answer = fc.record(
  {
    thinking: fc.string({ unit: 'grapheme', maxLength: 20 }),
    text: fc.string({ unit: 'grapheme', maxLength: 40 }),
    calls: fc.array(
      fc.record({
        tool: fc.constantFrom('Read', 'Write'),
        // The parser of rows and requests leaves `__proto__` out, which no tool takes.
        input: fc
          .dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), {
            noNullPrototype: true,
          })
          .map(
            (input): Record<string, unknown> =>
              JSON.parse(JSON.stringify(input).replaceAll('__proto__', 'proto')),
          ),
      }),
      { maxLength: 4 },
    ),
  },
  { requiredKeys: ['calls'] },
);

test('N33 an answer comes out as it was given, and counts whole or not at all', () => {
  fc.assert(
    fc.property(answer, fc.nat(), (given, at) => {
      const data = toData(toEvents(given));
      const whole = assemble(data);
      expect(whole).toMatchObject({
        kind: 'message',
        message: {
          text: given.text ?? '',
          toolUses: given.calls.map(({ tool, input }) => ({
            name: `mcp__executor__${tool}`,
            input: JSON.parse(JSON.stringify(input)),
          })),
          thinking:
            given.thinking === undefined
              ? []
              : [{ thinking: given.thinking, signature: `signed:${given.thinking.length}` }],
          inputTokens: 100,
          outputTokens: 20,
        },
      });
      const cut = assemble(data.slice(0, at % data.length));
      expect(cut.kind).toBe('incomplete');
    }),
    { numRuns: 300 },
  );
});

const start = (index: number, block: object) =>
  JSON.stringify({ type: 'content_block_start', index, content_block: block });
const delta = (index: number, change: object) =>
  JSON.stringify({ type: 'content_block_delta', index, delta: change });
const stop = (index: number) => JSON.stringify({ type: 'content_block_stop', index });
const END = [
  JSON.stringify({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }),
  JSON.stringify({ type: 'message_stop' }),
];
const TEXT = { type: 'text', text: '' };
const CALL = { type: 'tool_use', id: 'a', name: 'Read', input: {} };

test.each([
  ['a block that is left open', [start(0, TEXT), ...END]],
  ['blocks out of order', [start(1, TEXT), stop(1), ...END]],
  ['a piece for a block that is over', [start(0, TEXT), stop(0), delta(0, {}), ...END]],
  [
    'a piece of another kind',
    [start(0, TEXT), delta(0, { type: 'input_json_delta', partial_json: '{}' }), stop(0), ...END],
  ],
  [
    'arguments that are no object',
    [start(0, CALL), delta(0, { type: 'input_json_delta', partial_json: '[1]' }), stop(0), ...END],
  ],
  [
    'arguments that are cut',
    [start(0, CALL), delta(0, { type: 'input_json_delta', partial_json: '{"a' }), stop(0), ...END],
  ],
  ['a kind of block that nobody asked for', [start(0, { type: 'server_tool_use' }), ...END]],
  ['no reason for the end', [start(0, TEXT), stop(0), '{"type":"message_stop"}']],
  ['no JSON', ['data', ...END]],
])('N33 %s is no answer', (_what, data) => {
  expect(assemble(data).kind).toBe('incomplete');
});

test('N33 an error in the stream is one, whatever follows', () => {
  const error = JSON.stringify({ type: 'error', error: { type: 'overloaded_error' } });
  expect(assemble([start(0, TEXT), error, stop(0), ...END])).toEqual({
    kind: 'error',
    type: 'overloaded_error',
  });
});
