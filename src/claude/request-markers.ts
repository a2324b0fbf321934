import { isRunId, type RunId } from '../base/ids.ts';

const TASK_LINE = /^\[task (run_[A-Za-z0-9_-]{20})\]\n/;

/**
 * Puts a line in front of a prompt that names its run. Claude Code swallows a prompt that begins with a slash and a
 * word, and the line keeps it from beginning so; it also tells the bridge which text is the task.
 */
export function wrapPrompt(run: RunId, prompt: string): string {
  return `[task ${run}]\n${prompt}`;
}

/** The prompt in a text that `wrapPrompt` made, exactly as it was given; undefined for any other text. */
export function unwrapPrompt(
  text: string,
): { readonly run: RunId; readonly prompt: string } | undefined {
  const match = TASK_LINE.exec(text);
  const run = match?.[1];
  if (match === null || !isRunId(run)) return undefined;
  return { run, prompt: text.slice(match[0].length) };
}

/** Claude Code's own way of asking for a summary that replaces the conversation. */
export function isCompactionRequest(text: string): boolean {
  return (
    text.includes('Your task is to create a detailed summary') &&
    text.trimStart().startsWith('CRITICAL: Respond with TEXT ONLY')
  );
}

/** What Claude Code says in the person's place when it resumes a conversation that was cut off. */
export function isResumeFiller(text: string): boolean {
  return text.trim() === 'Continue from where you left off.';
}

/** The date and other context that Claude Code puts in front of a prompt by itself. */
export function isEnvironmentReminder(text: string): boolean {
  return text.startsWith('<system-reminder>') && text.includes('# currentDate');
}
