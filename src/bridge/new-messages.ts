import type { RunId } from '../base/ids.ts';
import { isEnvironmentReminder, isResumeFiller, unwrapPrompt } from '../claude/request-markers.ts';
import type { ContentBlock, MessagesRequest, RequestMessage } from './parse-messages-request.ts';

/** One thing in a request that the client has not seen. */
export type NewMessage =
  | { readonly kind: 'task'; readonly run: RunId; readonly text: string }
  | { readonly kind: 'notice'; readonly text: string }
  | {
      readonly kind: 'tool_result';
      readonly toolUseId: string;
      readonly isError: boolean;
      readonly text: string;
    };

/**
 * What came after the last reply that the client gave, in order. `isReply` recognises one of its replies among the
 * assistant messages. When none is found (the first turn, or a conversation that was summarised) everything is new.
 * Assistant messages that are not the client's (Claude Code adds some when it resumes) are left out.
 */
export function selectNewMessages(
  request: MessagesRequest,
  isReply: (text: string, toolUseIds: readonly string[]) => boolean,
): NewMessage[] {
  const unseen: RequestMessage[] = [];
  for (let index = request.messageCount - 1; index >= 0; index -= 1) {
    const message = request.message(index);
    if (message.role !== 'assistant') unseen.unshift(message);
    else if (isReply(joinText(message), toolUseIds(message))) break;
  }
  return unseen.flatMap((message) => message.content.flatMap(toNewMessage));
}

function toNewMessage(block: ContentBlock): NewMessage[] {
  switch (block.type) {
    case 'text': {
      const task = unwrapPrompt(block.text);
      if (task !== undefined) return [{ kind: 'task', run: task.run, text: task.prompt }];
      const isFiller = isEnvironmentReminder(block.text) || isResumeFiller(block.text);
      if (block.text.trim() === '' || isFiller) return [];
      return [{ kind: 'notice', text: block.text }];
    }
    case 'tool_result':
      return [
        {
          kind: 'tool_result',
          toolUseId: block.tool_use_id,
          isError: block.is_error === true,
          text: resultText(block.content),
        },
      ];
    case 'tool_use':
      return [];
    case 'other':
      return [{ kind: 'notice', text: `[Claude Code sent a block of type ${block.of}]` }];
  }
}

function resultText(content: Extract<ContentBlock, { type: 'tool_result' }>['content']): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return content;
  return content.map((part) => part.text ?? `[${part.type}]`).join('\n');
}

function joinText(message: RequestMessage): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function toolUseIds(message: RequestMessage): string[] {
  return message.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}
