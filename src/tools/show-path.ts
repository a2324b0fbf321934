import { escapeText } from '../base/escape-text.ts';

/** A path on a line of its own: a name with a line feed or an invisible character cannot pose as another. */
export function showPath(path: string): string {
  return escapeText(path);
}
