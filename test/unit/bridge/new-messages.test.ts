import { expect, test } from 'vitest';
import { mintRunId } from '../../../src/base/ids.ts';
import { selectNewMessages } from '../../../src/bridge/new-messages.ts';
import { parseMessagesRequest } from '../../../src/bridge/parse-messages-request.ts';
import { wrapPrompt } from '../../../src/claude/request-markers.ts';
import { replyFingerprint } from '../../../src/session/reply-fingerprint.ts';
import { messagesRequest, text } from '../../support/messages-request.ts';

const reminder = text(
  "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n# currentDate\nToday's date is 2026-11-30.\n</system-reminder>\n\n",
);
const use = (id: string) => ({ type: 'tool_use', id, name: 'mcp__executor__Read', input: {} });
const result = (id: string, value: string, isError = false) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: [{ type: 'text', text: value }],
  ...(isError ? { is_error: true } : {}),
});

function select(messages: Parameters<typeof messagesRequest>[0], replies: readonly string[]) {
  const request = parseMessagesRequest(JSON.stringify(messagesRequest(messages)));
  if (request === undefined) throw new Error('not a request');
  return selectNewMessages(request, (words, ids) => replies.includes(replyFingerprint(words, ids)));
}

test('the first turn shows the task word for word and not what Claude Code puts in front', () => {
  const run = mintRunId();
  for (const prompt of [
    'do it',
    '/clear',
    '/help me',
    '[task x]\n',
    '@file !cmd',
    '  spaces  \n',
  ]) {
    const messages = [
      { role: 'user' as const, content: [reminder, text(wrapPrompt(run, prompt))] },
    ];
    expect(select(messages, [])).toEqual([{ kind: 'task', run, text: prompt }]);
  }
});

test('F31 a later turn shows what came after the last reply, in order', () => {
  const messages = [
    { role: 'user' as const, content: [reminder, text(wrapPrompt(mintRunId(), 'go'))] },
    { role: 'assistant' as const, content: [text(''), use('toolu_a'), use('toolu_b')] },
    {
      role: 'user' as const,
      content: [
        result('toolu_a', 'A'),
        result('toolu_b', 'B', true),
        text('[Request interrupted by user]'),
      ],
    },
  ];
  expect(select(messages, ['toolu_a'])).toEqual([
    { kind: 'tool_result', toolUseId: 'toolu_a', isError: false, text: 'A' },
    { kind: 'tool_result', toolUseId: 'toolu_b', isError: true, text: 'B' },
    { kind: 'notice', text: '[Request interrupted by user]' },
  ]);
});

test('a continued conversation shows the new task alone, however the text was trimmed', () => {
  const run = mintRunId();
  const messages = [
    { role: 'user' as const, content: [text(wrapPrompt(mintRunId(), 'first'))] },
    { role: 'assistant' as const, content: 'All done.' },
    { role: 'user' as const, content: [text(wrapPrompt(run, 'second'))] },
  ];
  expect(select(messages, [replyFingerprint('All done.\n', [])])).toEqual([
    { kind: 'task', run, text: 'second' },
  ]);
});

test('N45 a resumed conversation shows results that the client never saw, and not the filler', () => {
  const run = mintRunId();
  const messages = [
    { role: 'user' as const, content: [text(wrapPrompt(mintRunId(), 'first'))] },
    { role: 'assistant' as const, content: [use('toolu_a')] },
    { role: 'user' as const, content: [result('toolu_a', 'A')] },
    { role: 'assistant' as const, content: [text('No response requested.')] },
    { role: 'user' as const, content: [text(wrapPrompt(run, 'go on'))] },
  ];
  expect(select(messages, ['toolu_a'])).toEqual([
    { kind: 'tool_result', toolUseId: 'toolu_a', isError: false, text: 'A' },
    { kind: 'task', run, text: 'go on' },
  ]);
});

test('F28 thinking in a transcript is ignored, and a summarised conversation is all new', () => {
  const messages = [
    { role: 'user' as const, content: [text('This session is being continued from a summary.')] },
    {
      role: 'assistant' as const,
      content: [{ type: 'thinking', thinking: 'hm' }, text('not ours')],
    },
  ];
  expect(select(messages, ['toolu_gone'])).toEqual([
    { kind: 'notice', text: 'This session is being continued from a summary.' },
  ]);
});
