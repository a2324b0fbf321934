import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { ReinsError } from '../base/reins-error.ts';
import { joinBom, requireText, splitBom } from './decode-text.ts';
import {
  deleteCell,
  insertCell,
  type NotebookText,
  openNotebook,
  replaceSource,
} from './notebook/change-notebook.ts';
import { showName } from './notebook/show-name.ts';
import { MAX_WHOLE_FILE_BYTES, readReplaceableFile } from './read-whole-file.ts';
import { requireUnchanged } from './require-unchanged.ts';
import { requireWritable } from './require-writable.ts';
import { resolvePath } from './resolve-path.ts';
import { defineChangingTool } from './tool.ts';
import { wellFormedText } from './well-formed-text.ts';

/** Ids or positions that a failed search for a cell lists. */
const MAX_LISTED = 20;

const inputSchema = z.strictObject({
  notebook_path: wellFormedText.describe(
    'Notebook (.ipynb) to change; relative paths start at the working directory.',
  ),
  cell_id: wellFormedText
    .optional()
    .describe(
      'Id of the cell; cell-N (0 is the first) for a cell without one. With insert, the cell to insert after; at the beginning without.',
    ),
  new_source: wellFormedText.optional().describe('The whole new source; for replace and insert.'),
  cell_type: z
    .enum(['code', 'markdown', 'raw'])
    .optional()
    .describe('Type of an inserted cell, or the type that a replaced one is to become.'),
  edit_mode: z.enum(['replace', 'insert', 'delete']).optional().describe('Default replace.'),
});
type Input = z.infer<typeof inputSchema>;

export const notebookEditTool = defineChangingTool({
  name: 'NotebookEdit',
  description:
    'Replaces, inserts or deletes one cell of a Jupyter notebook (nbformat 4) in the write root and runs nothing. A replaced code cell loses its outputs; everything else stays byte for byte. Read shows the notebook with its cell ids. Refused when the file changed since this session read it.',
  input: inputSchema,
  async prepare(input, context) {
    const path = await resolvePath(input.notebook_path, context);
    requireWritable(path, context);
    if (!path.endsWith('.ipynb')) {
      throw new ReinsError(
        'notebook_invalid',
        `${path} is not named as a notebook (.ipynb); Edit and Write change other files.`,
      );
    }
    const file = await readReplaceableFile(path, context);
    requireUnchanged(path, file.bytes, context);
    requireText(file.bytes, path);
    const { bom, text } = splitBom(file.bytes.toString('utf8'));
    const opened = openNotebook(text, path);
    const { changed, touched, said } = change(opened, input);
    if (changed.text === text) {
      throw new ReinsError(
        'edit_changes_nothing',
        'The cell already has this source and type and nothing to clear; nothing would change.',
      );
    }
    requireAsMeant(opened, changed, touched, input);
    const after = Buffer.from(joinBom(bom, changed.text), 'utf8');
    if (after.length > MAX_WHOLE_FILE_BYTES) {
      throw new ReinsError(
        'file_too_large',
        `${path} would grow to ${after.length} bytes and the limit is ${MAX_WHOLE_FILE_BYTES}; shorten new_source.`,
      );
    }
    return {
      path,
      before: { bytes: file.bytes, mode: file.mode },
      after,
      answer: { text: `${said} in ${path}.`, truncated: false },
    };
  },
});

interface Change {
  readonly changed: NotebookText;
  /** Position of the cell before and after, where there is one. */
  readonly touched: { readonly before?: number; readonly after?: number };
  readonly said: string;
}

function change(opened: NotebookText, input: Input): Change {
  const name = (index: number): string => {
    const id = opened.notebook.cells[index]?.id;
    return id === undefined ? `cell ${index}` : `cell ${index} (id ${showName(id)})`;
  };
  switch (input.edit_mode ?? 'replace') {
    case 'replace': {
      const source = requireField(input, 'new_source', 'replace');
      const index = findCell(opened, requireField(input, 'cell_id', 'replace'));
      const changed = replaceSource(opened, index, source, input.cell_type);
      const old = opened.notebook.cells[index]?.type;
      const now = changed.notebook.cells[index]?.type;
      const notes = [
        ...(old === now ? [] : [`now a ${now} cell`]),
        ...(old === 'code' ? ['its outputs cleared'] : []),
      ];
      return {
        changed,
        touched: { before: index, after: index },
        said: [`Replaced ${name(index)}`, ...notes, ''].join(', ').trimEnd(),
      };
    }
    case 'insert': {
      const source = requireField(input, 'new_source', 'insert');
      if (input.cell_type === undefined) throw missing('cell_type', 'insert');
      const index = input.cell_id === undefined ? 0 : findCell(opened, input.cell_id) + 1;
      const { changed, id } = insertCell(opened, index, source, input.cell_type);
      return {
        changed,
        touched: { after: index },
        said: `Inserted a ${input.cell_type} cell at position ${index}${id === undefined ? '' : ` with id ${id}`}`,
      };
    }
    case 'delete': {
      for (const field of ['new_source', 'cell_type'] as const) {
        if (input[field] === undefined) continue;
        throw new ReinsError(
          'tool_call_invalid',
          `${field} has no meaning with edit_mode delete; leave it out.`,
        );
      }
      const index = findCell(opened, requireField(input, 'cell_id', 'delete'));
      return {
        changed: deleteCell(opened, index),
        touched: { before: index },
        said: `Deleted ${name(index)}`,
      };
    }
  }
}

function requireField(input: Input, field: 'cell_id' | 'new_source', mode: string): string {
  const value = input[field];
  if (value === undefined) throw missing(field, mode);
  return value;
}

function missing(field: string, mode: string): ReinsError {
  return new ReinsError(
    'tool_call_invalid',
    `${field} is needed with edit_mode ${mode}; give it as the tool's input_schema says.`,
  );
}

/** Throws `cell_not_found` or, where an id is not unique, `notebook_invalid`. */
function findCell(opened: NotebookText, wanted: string): number {
  const { cells } = opened.notebook;
  const found = cells.flatMap(({ id }, index) => (id === wanted ? [index] : []));
  if (found.length > 1) {
    throw new ReinsError(
      'notebook_invalid',
      `${found.length} cells of ${opened.path} have the id ${showName(wanted)} (at positions ${found.slice(0, MAX_LISTED).join(', ')}); make their ids unique with Edit first.`,
    );
  }
  const [index] = found;
  if (index !== undefined) return index;
  const position = /^cell-(0|[1-9]\d{0,6})$/.exec(wanted)?.[1];
  const cell = position === undefined ? undefined : cells[Number(position)];
  if (cell !== undefined && cell.id === undefined) return Number(position);
  const ids = cells
    .slice(0, MAX_LISTED)
    .map(({ id }, at) => (id === undefined ? `cell-${at}` : showName(id)));
  throw new ReinsError(
    'cell_not_found',
    `${opened.path} has no cell ${showName(wanted)}; it has ${cells.length} cells${ids.length === 0 ? '' : `, beginning with ${ids.join(', ')}`}.`,
  );
}

const notebookSchema = z.looseObject({ cells: z.array(z.unknown()) });
const cellSchema = z.looseObject({
  cell_type: z.string(),
  source: z.union([z.string(), z.array(z.string()).transform((lines) => lines.join(''))]),
});

/** A guard against a slip in the splicing: the result is read again, and has to be what was meant. */
function requireAsMeant(
  before: NotebookText,
  after: NotebookText,
  touched: Change['touched'],
  input: Input,
): void {
  const old = notebookSchema.parse(JSON.parse(before.text));
  const now = notebookSchema.parse(JSON.parse(after.text));
  const without = (cells: readonly unknown[], index: number | undefined): unknown[] =>
    cells.filter((_cell, at) => at !== index);
  const same =
    isDeepStrictEqual({ ...old, cells: null }, { ...now, cells: null }) &&
    isDeepStrictEqual(without(old.cells, touched.before), without(now.cells, touched.after)) &&
    (touched.after === undefined ||
      isCellAsMeant(old.cells[touched.before ?? -1], now.cells[touched.after], input));
  if (same) return;
  throw new ReinsError(
    'notebook_invalid',
    `${before.path} is written in a way that cannot be changed cell by cell; Edit works on its text.`,
  );
}

/** `old` is undefined when the cell is a new one. */
function isCellAsMeant(old: unknown, now: unknown, input: Input): boolean {
  const cell = cellSchema.parse(now);
  const type = input.cell_type ?? z.looseObject({ cell_type: z.string() }).parse(old).cell_type;
  return (
    cell.source === input.new_source &&
    cell.cell_type === type &&
    (type !== 'code' ||
      (isDeepStrictEqual(cell['outputs'], []) && cell['execution_count'] === null)) &&
    (old === undefined || isDeepStrictEqual(withoutContent(old), withoutContent(now)))
  );
}

/** What a replacement leaves alone. */
function withoutContent(cell: unknown): unknown {
  const {
    attachments: _attachments,
    cell_type: _type,
    execution_count: _count,
    outputs: _outputs,
    source: _source,
    ...rest
  } = z.looseObject({}).parse(cell);
  return rest;
}
