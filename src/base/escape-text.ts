/**
 * Shows text that came from elsewhere on a terminal: control characters, bidirectional overrides, zero-width
 * and tag characters become \u escapes, so that a file name cannot move the cursor or pose as another one.
 * Tabs and, when `keepNewlines` is set, line feeds stay.
 */
export function escapeText(text: string, keepNewlines = false): string {
  let result = '';
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    const plain = character === '\t' || (keepNewlines && character === '\n') || !isDeceptive(point);
    result += plain ? character : `\\u{${point.toString(16)}}`;
  }
  return result;
}

/** Whether a character moves the cursor, turns the text around it, or is not seen. */
export function isDeceptive(point: number): boolean {
  return (
    point < 0x20 ||
    (point >= 0x7f && point < 0xa0) ||
    (point >= 0x200b && point <= 0x200f) ||
    (point >= 0x2028 && point <= 0x202e) ||
    (point >= 0x2060 && point <= 0x2069) ||
    point === 0xad ||
    point === 0x61c ||
    point === 0x3164 ||
    point === 0xfeff ||
    (point >= 0xd800 && point <= 0xdfff) ||
    (point >= 0xe0000 && point <= 0xe01ef)
  );
}
