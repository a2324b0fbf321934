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

export function readStyle(text: string, notebook: Notebook): NotebookStyle {
  const separator = notebook.rootSeparator;
  const at = separator.lastIndexOf('\n');
  return {
    unit: at < 0 ? null : separator.slice(at + 1),
    lineEnding: separator.includes('\r\n') ? '\r\n' : '\n',
    space: /"\s*:\s/.test(text) ? ' ' : '',
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is the ASCII one on purpose
    ascii: /\\u[0-9a-fA-F]{4}/.test(text) && /^[\x00-\x7f]*$/.test(text),
  };
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
