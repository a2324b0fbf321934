import { escapeText } from '../../base/escape-text.ts';

/** The longest id that nbformat allows. */
const MAX_SHOWN = 64;

/** A name from a notebook in an answer: whatever the file has there, it stays short and on one line. */
export function showName(name: string): string {
  return /^[\w-]{1,64}$/.test(name) ? name : `"${escapeText(name.slice(0, MAX_SHOWN))}"`;
}
