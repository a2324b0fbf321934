import { isDeceptive } from '../base/escape-text.ts';

/** JSON for a terminal or a program: the same value, with nothing in it that a terminal would act on or not show. */
export function toJsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  let result = '';
  for (const character of text) {
    const isPlain = character === '\n' || !isDeceptive(character.codePointAt(0) ?? 0);
    result += isPlain ? character : toEscapes(character);
  }
  return `${result}\n`;
}

function toEscapes(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}
