import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../base/canonical-json.ts';
import { ReinsError } from '../../base/reins-error.ts';
import { MAX_WHOLE_FILE_BYTES } from '../read-whole-file.ts';
import { indentationOf, type NotebookStyle, readStyle, writeValue } from './notebook-style.ts';
import { type Notebook, type NotebookCell, parseNotebook, type Span } from './parse-notebook.ts';

export type CellType = 'code' | 'markdown' | 'raw';

/** A notebook's text with everything that is needed to change it. Each change gives a new one. */
export interface NotebookText {
  readonly path: string;
  readonly text: string;
  readonly notebook: Notebook;
  readonly style: NotebookStyle;
}

export function openNotebook(text: string, path: string): NotebookText {
  const notebook = parseNotebook(text, path);
  return { path, text, notebook, style: readStyle(text, notebook) };
}

/** Puts in a source, in the form that the cell's own has, and clears what a code cell had printed. */
export function replaceSource(
  opened: NotebookText,
  index: number,
  source: string,
  type: CellType | undefined,
): NotebookText {
  const old = opened.notebook.cells[index]?.type;
  const form = formOf(opened, index);
  let changed = setProperty(opened, index, 'source', toForm(source, form));
  const now = type ?? old;
  if (type !== undefined && type !== old) changed = setProperty(changed, index, 'cell_type', type);
  if (now === 'code') {
    changed = setProperty(changed, index, 'execution_count', null);
    changed = setProperty(changed, index, 'outputs', []);
    if (old !== 'code') changed = removeProperty(changed, index, 'attachments');
  } else if (old === 'code') {
    changed = removeProperty(changed, index, 'execution_count');
    changed = removeProperty(changed, index, 'outputs');
  }
  return changed;
}

/** Puts a new cell at `index`. Its id is undefined where the notebook's format has none. */
export function insertCell(
  opened: NotebookText,
  index: number,
  source: string,
  type: CellType,
): { readonly changed: NotebookText; readonly id: string | undefined } {
  const { cells, minor, cellsArray } = opened.notebook;
  const id = minor >= 5 ? freshId(cells) : undefined;
  const form =
    cells.length > 0 && cells.every((_cell, at) => formOf(opened, at) === 'string')
      ? 'string'
      : 'lines';
  const cell = {
    cell_type: type,
    ...(type === 'code' ? { execution_count: null } : {}),
    ...(id === undefined ? {} : { id }),
    metadata: {},
    ...(type === 'code' ? { outputs: [] } : {}),
    source: toForm(source, form),
  };
  const { style, text } = opened;
  const [first] = cells;
  if (first === undefined) {
    const base = style.unit ?? '';
    const line = style.unit === null ? '' : style.lineEnding;
    const inner = `${line}${base}${base}`;
    const array = `[${inner}${writeValue(cell, base + base, style)}${line}${base}]`;
    return { changed: splice(opened, cellsArray, array), id };
  }
  const separator = text.slice(cellsArray.start + 1, first.start);
  const between = separator.includes('\n') ? separator : style.space;
  // A closing brace on a line of its own tells of a cell in lines, wherever the cell begins.
  const closing = text.slice(first.properties.at(-1)?.end, first.end);
  const written = writeValue(cell, indentationOf(closing.slice(0, -1)), layoutOf(closing, style));
  const before = cells[index - 1];
  return {
    changed:
      before === undefined
        ? splice(opened, { start: first.start, end: first.start }, `${written},${between}`)
        : splice(opened, { start: before.end, end: before.end }, `,${between}${written}`),
    id,
  };
}

export function deleteCell(opened: NotebookText, index: number): NotebookText {
  const { cells, cellsArray } = opened.notebook;
  const inside = { start: cellsArray.start + 1, end: cellsArray.end - 1 };
  return splice(opened, cutOut(cells, index, inside), '');
}

/** An item of a list together with the comma that goes with it. */
function cutOut(items: readonly Span[], index: number, whole: Span): Span {
  const [before, item, after] = [items[index - 1], items[index], items[index + 1]];
  if (item === undefined) return { start: whole.start, end: whole.start };
  if (before !== undefined) return { start: before.end, end: item.end };
  return after === undefined ? whole : { start: item.start, end: after.start };
}

function setProperty(opened: NotebookText, index: number, key: string, value: Json): NotebookText {
  const cell = requireCell(opened, index);
  const { text, style } = opened;
  const own = cell.properties.find((property) => property.key === key);
  if (own !== undefined) {
    const old = text.slice(own.value.start, own.value.end);
    if (isDeepStrictEqual(JSON.parse(old), value)) return opened;
    const separator = text.slice(cell.start + 1, cell.properties[0]?.start);
    const layout = layoutOf(old + separator, style);
    return splice(opened, own.value, writeValue(value, indentationOf(separator), layout));
  }
  const at = cell.properties.findLastIndex((property) => property.key < key);
  const anchor = cell.properties[Math.max(at, 0)];
  if (anchor === undefined) return opened;
  const separator = text.slice(cell.start + 1, cell.properties[0]?.start);
  const between = separator.includes('\n') ? separator : style.space;
  const written = `${JSON.stringify(key)}:${style.space}${writeValue(value, indentationOf(separator), layoutOf(separator, style))}`;
  return at < 0
    ? splice(opened, { start: anchor.start, end: anchor.start }, `${written},${between}`)
    : splice(opened, { start: anchor.end, end: anchor.end }, `,${between}${written}`);
}

function removeProperty(opened: NotebookText, index: number, key: string): NotebookText {
  const cell = requireCell(opened, index);
  const at = cell.properties.findIndex((property) => property.key === key);
  if (at < 0) return opened;
  return splice(opened, cutOut(cell.properties, at, cell), '');
}

/** The style, on one line where `around` is on one. */
function layoutOf(around: string, style: NotebookStyle): NotebookStyle {
  return around.includes('\n') ? style : { ...style, unit: null };
}

function splice(opened: NotebookText, span: Span, put: string): NotebookText {
  // The result is measured when it is complete; what cannot fit by itself is not worth parsing.
  if (put.length > MAX_WHOLE_FILE_BYTES) {
    throw new ReinsError(
      'file_too_large',
      `new_source would take more than ${MAX_WHOLE_FILE_BYTES} bytes in ${opened.path}, the limit for a file that is changed; shorten it.`,
    );
  }
  const text = opened.text.slice(0, span.start) + put + opened.text.slice(span.end);
  return { ...opened, text, notebook: parseNotebook(text, opened.path) };
}

function requireCell(opened: NotebookText, index: number): NotebookCell {
  const cell = opened.notebook.cells[index];
  if (cell === undefined) throw new Error(`the notebook has no cell ${index}`);
  return cell;
}

type SourceForm = 'string' | 'lines';

function formOf(opened: NotebookText, index: number): SourceForm {
  const value = requireCell(opened, index).properties.find(({ key }) => key === 'source')?.value;
  return value !== undefined && opened.text[value.start] === '"' ? 'string' : 'lines';
}

/** nbformat's array holds lines, each with its line feed but the last. */
function toForm(source: string, form: SourceForm): Json {
  return form === 'string' ? source : source.split(/(?<=\n)/).filter((line) => line !== '');
}

function freshId(cells: readonly NotebookCell[]): string {
  const used = new Set(cells.map(({ id }) => id));
  for (;;) {
    const id = randomBytes(4).toString('hex');
    if (!used.has(id)) return id;
  }
}
