import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/base/canonical-json.ts';
import { openToolSession, type ToolSession } from './support/tool-session.ts';

let session: ToolSession;
let file: string;
beforeEach(() => {
  session = openToolSession();
  file = join(session.project, 'n.ipynb');
});
afterEach(() => session.dispose());

type Cell = JsonObject & { cell_type: string; source: string | string[]; id?: string };

const code = (source: string | string[], more: JsonObject = {}): Cell => ({
  cell_type: 'code',
  execution_count: 3,
  metadata: { tags: ['a'] },
  outputs: [{ output_type: 'stream', name: 'stdout', text: ['1\n'] }],
  source,
  ...more,
});
const markdown = (source: string | string[], more: JsonObject = {}): Cell => ({
  cell_type: 'markdown',
  metadata: {},
  source,
  ...more,
});
const notebook = (cells: readonly Cell[], minor = 5): JsonObject => ({
  cells: [...cells],
  metadata: { kernelspec: { name: 'python3' }, big: 0 },
  nbformat: 4,
  nbformat_minor: minor,
});

function put(content: JsonObject | string, indent: number | string = 1): string {
  const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, indent)}\n`;
  writeFileSync(file, text);
  return text;
}

const edit = (input: JsonObject) =>
  session.call('NotebookEdit', { notebook_path: basename(file), ...input });
const text = (): string => readFileSync(file, 'utf8');
const cells = (): Cell[] => JSON.parse(text()).cells;

const THREE = [
  code(['a\n', 'b'], { id: 'one' }),
  markdown('text', { id: 'two' }),
  code([], { id: 'three' }),
];

describe('N19 replace', () => {
  test('the source is put in, outputs are cleared, every other byte stays', async () => {
    const before = put(notebook(THREE));
    const result = await edit({ cell_id: 'one', new_source: 'x = 1\ny' });
    expect(result).toMatchObject({ is_error: false });
    expect(result.text).toContain('Replaced cell 0 (id one)');
    expect(result.text).toContain('outputs cleared');
    const end = before.indexOf('"cell_type": "markdown"');
    expect(text().endsWith(before.slice(end))).toBe(true);
    expect(cells()[0]).toEqual({
      ...THREE[0],
      source: ['x = 1\n', 'y'],
      outputs: [],
      execution_count: null,
    });
    expect(text()).toContain('   "source": [\n    "x = 1\\n",\n    "y"\n   ]');
  });

  test('a string stays a string, lines stay lines, an empty source is an empty one', async () => {
    put(notebook(THREE));
    await edit({ cell_id: 'two', new_source: 'p\nq' });
    await edit({ cell_id: 'three', new_source: 'r\n' });
    await edit({ cell_id: 'one', new_source: '' });
    expect(cells().map(({ source }) => source)).toEqual([[], 'p\nq', ['r\n']]);
  });

  test('the type changes both ways, with the fields that go with it', async () => {
    put(
      notebook([
        code('a', { id: 'c', attachments: {} }),
        markdown('b', { id: 'm', attachments: { i: {} } }),
      ]),
    );
    await edit({ cell_id: 'c', new_source: 'a', cell_type: 'markdown' });
    await edit({ cell_id: 'm', new_source: 'b', cell_type: 'code' });
    expect(cells()).toEqual([
      { attachments: {}, cell_type: 'markdown', id: 'c', metadata: { tags: ['a'] }, source: 'a' },
      { cell_type: 'code', execution_count: null, id: 'm', metadata: {}, outputs: [], source: 'b' },
    ]);
  });

  test('nothing to change is said to be nothing', async () => {
    put(notebook([markdown('same', { id: 'm' })]));
    expect(await edit({ cell_id: 'm', new_source: 'same' })).toMatchObject({
      code: 'edit_changes_nothing',
    });
  });
});

describe('F62 N19 notebooks of every kind', () => {
  test.each([0, 2, 4])('nbformat 4.%i without ids: cells by position', async (minor) => {
    put(notebook([code('a'), markdown('b')], minor));
    await edit({ cell_id: 'cell-1', new_source: 'B' });
    await edit({ edit_mode: 'insert', cell_id: 'cell-0', cell_type: 'raw', new_source: 'r' });
    expect(cells().map(({ source }) => source)).toEqual(['a', 'r', 'B']);
    expect(cells().some((cell) => 'id' in cell)).toBe(false);
  });

  test('4.2 with ids: they are honoured', async () => {
    put(notebook([code('a', { id: 'x' }), markdown('b', { id: 'cell-0' })], 2));
    await edit({ cell_id: 'cell-0', new_source: 'B' });
    expect(cells().map(({ source }) => source)).toEqual(['a', 'B']);
  });

  test.each([
    ['tabs', notebook(THREE), '\t'],
    ['four spaces', notebook(THREE), 4],
    ['one line', notebook(THREE), 0],
  ] as const)('written with %s it stays so', async (_name, content, indent) => {
    const before = put(content, indent);
    await edit({ cell_id: 'two', new_source: 'a\nb' });
    await edit({ edit_mode: 'insert', cell_id: 'two', cell_type: 'code', new_source: 'c\nd' });
    const [, , inserted] = cells();
    await edit({ edit_mode: 'delete', cell_id: String(inserted?.id) });
    await edit({ cell_id: 'two', new_source: 'text' });
    expect(text()).toBe(before);
    const whole = JSON.parse(before);
    whole.cells.splice(1, 0, { cell_type: 'raw', metadata: {}, source: 'x' });
    await edit({ edit_mode: 'insert', cell_id: 'one', cell_type: 'raw', new_source: 'x' });
    const id = cells()[1]?.id;
    whole.cells[1] = { cell_type: 'raw', id, metadata: {}, source: ['x'] };
    expect(text()).toBe(`${JSON.stringify(whole, null, indent)}\n`);
  });

  test('CRLF, a byte order mark, odd numbers, escapes and a missing last line feed stay', async () => {
    const odd = `\ufeff${JSON.stringify(notebook(THREE), null, 1)
      .replace('"big": 0', '"big": 12345678901234567, "one": 1.0, "e": 1E5, "u": "\\u00e9\\/ é"')
      .replaceAll('\n', '\r\n')}`;
    put(odd);
    await edit({ cell_id: 'one', new_source: 'ü\nx' });
    expect(text()).toBe(
      odd
        .replace('"a\\n",\r\n    "b"', '"ü\\n",\r\n    "x"')
        .replace('"execution_count": 3', '"execution_count": null')
        .replace(
          /"outputs": \[.*?\],\r\n {3}"source": \[\r\n {4}"ü/s,
          '"outputs": [],\r\n   "source": [\r\n    "ü',
        ),
    );
  });

  test('where everything is escaped, what is put in is escaped too', async () => {
    put(
      JSON.stringify(notebook([markdown('x', { id: 'm' })]), null, 1).replace(
        'python3',
        'p\\u00fc',
      ),
    );
    await edit({ cell_id: 'm', new_source: 'ü😀' });
    expect(text()).toContain('"\\u00fc\\ud83d\\ude00"');
    expect(cells()[0]?.source).toBe('ü😀');
  });
});

describe('N19 insert and delete', () => {
  test('at the beginning, in the middle, at the end, into nothing', async () => {
    put(notebook([], 5), 2);
    await edit({ edit_mode: 'insert', cell_type: 'code', new_source: '2' });
    const [second] = cells();
    await edit({ edit_mode: 'insert', cell_type: 'markdown', new_source: '1' });
    await edit({
      edit_mode: 'insert',
      cell_id: String(second?.id),
      cell_type: 'raw',
      new_source: '3',
    });
    expect(cells().map(({ source }) => source)).toEqual([['1'], ['2'], ['3']]);
    expect(new Set(cells().map(({ id }) => id)).size).toBe(3);
    expect(Object.keys(second ?? {})).toEqual([
      'cell_type',
      'execution_count',
      'id',
      'metadata',
      'outputs',
      'source',
    ]);
    expect(text()).toBe(`${JSON.stringify(JSON.parse(text()), null, 2)}\n`);
    for (const { id } of cells()) await edit({ edit_mode: 'delete', cell_id: String(id) });
    expect(cells()).toEqual([]);
  });

  test('a notebook of one line stays one', async () => {
    put('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}');
    await edit({ edit_mode: 'insert', cell_type: 'code', new_source: 'a\nb' });
    expect(text()).not.toContain('\n');
    expect(text()).toContain('"source": ["a\\n", "b"]');
  });
});

describe('N19 what is refused changes nothing', () => {
  const DEEP = `{"nbformat":4,"cells":[],"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  test.each([
    ['no JSON', '{"cells": [}', 'notebook_invalid'],
    ['a comment', '{"nbformat": 4, "cells": [] /* x */}', 'notebook_invalid'],
    ['a trailing comma', '{"nbformat": 4, "cells": [],}', 'notebook_invalid'],
    ['an array', '[]', 'notebook_invalid'],
    ['no cells', '{"nbformat": 4}', 'notebook_invalid'],
    ['cells that are none', '{"nbformat": 4, "cells": [1]}', 'notebook_invalid'],
    ['nbformat 3', '{"nbformat": 3, "cells": []}', 'notebook_invalid'],
    ['nbformat 5', '{"nbformat": 5, "cells": []}', 'notebook_invalid'],
    ['cells twice', '{"nbformat": 4, "cells": [], "cells": []}', 'notebook_invalid'],
    ['depth', DEEP, 'notebook_invalid'],
    ['nothing', '', 'notebook_invalid'],
  ])('a file with %s', async (_name, content, code) => {
    put(content);
    expect(await edit({ cell_id: 'x', new_source: 'y' })).toMatchObject({ is_error: true, code });
    expect(text()).toBe(content);
  });

  test('cells that are not there or not unique, and arguments that do not go together', async () => {
    const before = put(notebook([code('a', { id: 'x' }), code('b', { id: 'x' }), code('c')]));
    const refusals: [JsonObject, string][] = [
      [{ cell_id: 'x', new_source: 'y' }, 'notebook_invalid'],
      [{ cell_id: 'nope', new_source: 'y' }, 'cell_not_found'],
      [{ cell_id: 'cell-0', new_source: 'y' }, 'cell_not_found'],
      [{ cell_id: 'cell-9', new_source: 'y' }, 'cell_not_found'],
      [{ cell_id: 'cell-2' }, 'tool_call_invalid'],
      [{ new_source: 'y' }, 'tool_call_invalid'],
      [{ edit_mode: 'insert', new_source: 'y' }, 'tool_call_invalid'],
      [{ edit_mode: 'delete' }, 'tool_call_invalid'],
      [{ edit_mode: 'delete', cell_id: 'cell-2', new_source: 'y' }, 'tool_call_invalid'],
    ];
    for (const [input, code] of refusals) expect(await edit(input)).toMatchObject({ code });
    expect(text()).toBe(before);
    writeFileSync(join(session.project, 'n.txt'), before);
    expect(
      await session.call('NotebookEdit', {
        notebook_path: 'n.txt',
        cell_id: 'cell-2',
        new_source: 'y',
      }),
    ).toMatchObject({ code: 'notebook_invalid' });
  });
});

test('N19 any change of any notebook is the change that was meant, and nothing else', async () => {
  const value: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
  const source = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.array(fc.string().map((line) => `${line}\n`)),
  );
  const anyCell = fc
    .record({
      kind: fc.constantFrom('code', 'markdown', 'raw'),
      source,
      extra: value,
      order: fc.boolean(),
    })
    .map(({ kind, source: own, extra, order }, index = 0): Cell => {
      const base = kind === 'code' ? code(own) : { ...markdown(own), cell_type: kind };
      const cell: Cell = { ...base, metadata: { extra }, index };
      return order ? cell : (Object.fromEntries(Object.entries(cell).reverse()) as Cell);
    });
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyCell, { maxLength: 5 }),
      fc.constantFrom<number | string>(0, 1, 2, '\t'),
      fc.constantFrom(4, 5),
      fc.constantFrom('replace', 'insert', 'delete'),
      fc.nat(),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('code', 'markdown', 'raw'),
      async (list, indent, minor, mode, pick, newSource, type) => {
        const named = list.map((cell, index) => (index % 2 ? { ...cell, id: `id${index}` } : cell));
        const model = notebook(named, minor) as unknown as { cells: Cell[] };
        runs += 1;
        file = join(session.project, `${runs}.ipynb`);
        put(model as unknown as JsonObject, indent);
        const index = named.length === 0 ? 0 : pick % named.length;
        const id = String(named[index]?.id ?? `cell-${index}`);
        if (named.length === 0 && mode !== 'insert') return;
        const clean = newSource.replaceAll('\0', '');
        if (/[\ud800-\udfff]/.test(clean.replaceAll(/[\ud800-\udbff][\udc00-\udfff]/g, ''))) return;
        const result = await edit({
          edit_mode: mode,
          ...(named.length === 0 ? {} : { cell_id: id }),
          ...(mode === 'delete' ? {} : { new_source: clean, cell_type: type }),
        });
        const actual = cells();
        const lines = clean.split(/(?<=\n)/).filter((line) => line !== '');
        if (result.code === 'edit_changes_nothing') {
          expect(JSON.parse(text())).toEqual(model);
          return;
        }
        expect(result).toMatchObject({ is_error: false });
        if (mode === 'delete') model.cells.splice(index, 1);
        if (mode === 'insert') {
          const at = named.length === 0 ? 0 : index + 1;
          const inserted = actual[at];
          expect(inserted?.cell_type).toBe(type);
          expect([inserted?.source].flat().join('')).toBe(clean);
          if (inserted) model.cells.splice(at, 0, inserted);
        }
        if (mode === 'replace') {
          const old = model.cells[index];
          const { outputs: _o, execution_count: _e, ...rest } = old ?? code('');
          model.cells[index] = {
            ...rest,
            cell_type: type,
            source: typeof old?.source === 'string' ? clean : lines,
            ...(type === 'code' ? { outputs: [], execution_count: null } : {}),
          };
        }
        expect(JSON.parse(text())).toEqual(model);
      },
    ),
    { numRuns: 150 },
  );
});
