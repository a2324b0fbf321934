import type { Json } from '../../base/canonical-json.ts';
import type { Notebook } from './parse-notebook.ts';

/** How a notebook is written, so that what is put in looks like the rest. */
export interface NotebookStyle {
  /** One step of indentation; null when everything is on one line. */
  readonly unit: string | null;
  readonly lineEnding: '\n' | '\r\n';
  /** Behind a colon and, on one line, behind a comma. */
  readonly space: string;
  /** Whether everything that is not ASCII is escaped. */
  readonly ascii: boolean;
}

const MAX_INDENTATION = 64;

/**
 * An escape that stands for a character beyond ASCII. Those of control characters say nothing about the style, since
 * every writer of JSON has to escape them, and behind an escaped backslash there is no escape at all.
 */
const ESCAPED_NON_ASCII = /(?<!\\)(?:\\\\)*\\u(?!00[0-7])[0-9a-fA-F]{4}/;

export function readStyle(text: string, notebook: Notebook): NotebookStyle {
  const separator = notebook.rootSeparator;
  return {
    unit: separator.includes('\n') ? indentationOf(separator) : null,
    lineEnding: separator.includes('\r\n') ? '\r\n' : '\n',
    space: notebook.colonSpace === '' ? '' : ' ',
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is the ASCII one on purpose
    ascii: ESCAPED_NON_ASCII.test(text) && /^[\x00-\x7f]*$/.test(text),
  };
}

/** What the last line of a separator begins with. Bounded, for every line that is put in begins with it too. */
export function indentationOf(separator: string): string {
  const at = separator.lastIndexOf('\n');
  return at < 0 ? '' : separator.slice(at + 1, at + 1 + MAX_INDENTATION);
}

/** A value as text that goes to a place with this indentation. */
export function writeValue(value: Json, indentation: string, style: NotebookStyle): string {
  const text = write(value, indentation, style);
  return style.ascii ? text.replaceAll(/[\u0080-\uffff]/g, escapeUnit) : text;
}

function write(value: Json, indentation: string, style: NotebookStyle): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const inner = style.unit === null ? '' : indentation + style.unit;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const parts = Array.isArray(value)
    ? value.map((item) => write(item, inner, style))
    : Object.entries(value).map(
        ([key, item]) => `${JSON.stringify(key)}:${style.space}${write(item, inner, style)}`,
      );
  if (parts.length === 0) return open + close;
  if (style.unit === null) return open + parts.join(`,${style.space}`) + close;
  const line = style.lineEnding + inner;
  return `${open}${line}${parts.join(`,${line}`)}${style.lineEnding}${indentation}${close}`;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
