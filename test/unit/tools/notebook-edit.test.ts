import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/base/canonical-json.ts';
import { checkToolCall } from '../../../src/tools/tool-set.ts';
import { namesNumber } from './support/receipts.ts';
import { openToolSession, type ToolSession } from './support/tool-session.ts';

let session: ToolSession;
let file: string;
let files = 0;
beforeEach(() => {
  session = openToolSession();
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

/** A new file each time: one that the session knows may not change behind its back. */
function put(content: JsonObject | string, indent: number | string = 1): string {
  const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, indent)}\n`;
  files += 1;
  file = join(session.project, `${files}.ipynb`);
  writeFileSync(file, text);
  return text;
}

const edit = (input: JsonObject) =>
  session.call('NotebookEdit', { notebook_path: basename(file), ...input });
const text = (): string => readFileSync(file, 'utf8');
const parsed = () => JSON.parse(text().replace(/^\ufeff/, ''));
const cells = (): Cell[] => parsed().cells;

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

  test('nothing to change is said to be nothing, however it is written', async () => {
    for (const source of ['"same"', '"\\u0073ame"', '[ "same" ]', '[\n"same"]']) {
      const content = put(
        JSON.stringify(notebook([markdown('same', { id: 'm' })])).replace('"same"', source),
      );
      expect(await edit({ cell_id: 'm', new_source: 'same' })).toMatchObject({
        code: 'edit_changes_nothing',
      });
      expect(text()).toBe(content);
    }
  });

  test('what a cell has already is not written anew', async () => {
    const content = put(
      JSON.stringify(
        notebook([code('a', { id: 'c', outputs: [], execution_count: null })]),
      ).replace('"outputs":[]', '"outputs":[ ]'),
    );
    await edit({ cell_id: 'c', new_source: 'b' });
    expect(text()).toBe(content.replace('"source":"a"', '"source":"b"'));
  });

  test('the answer tells of a new type and of the outputs that went', async () => {
    put(notebook(THREE));
    const toText = await edit({ cell_id: 'one', new_source: 'a', cell_type: 'markdown' });
    expect(toText.text).toContain('(id one), now a markdown cell, its outputs cleared, in ');
    const toCode = await edit({ cell_id: 'two', new_source: 'a', cell_type: 'code' });
    expect(toCode.text).toContain('(id two), now a code cell, in ');
  });

  test('keys that the tool does not know stay, __proto__ too', async () => {
    const content = put(
      JSON.stringify(notebook([markdown('a', { id: 'm' }), markdown('b', { id: 'n' })])).replaceAll(
        '"metadata":{}',
        '"__proto__":{"x":1.0},"metadata":{},"zeta":[]',
      ),
    );
    await edit({ cell_id: 'm', new_source: 'c' });
    expect(text()).toBe(content.replace('"source":"a"', '"source":"c"'));
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

  test('escapes that every writer has to use, and backslashes in a source, are no such style', async () => {
    for (const source of ['\u001b[31m', '"\\u00e9"', 'C:\\u00e9\\\\u00e9']) {
      put(notebook([code(source, { id: 'c' }), markdown('x', { id: 'm' })]));
      await edit({ cell_id: 'm', new_source: 'ü' });
      expect(text()).toContain('"source": "ü"');
    }
    put(notebook([markdown('x', { id: 'm' })]));
    writeFileSync(file, text().replace('python3', '\\\\\\u00e9'));
    await edit({ cell_id: 'm', new_source: 'ü' });
    expect(text()).toContain('"source": "\\u00fc"');
  });

  test('spaces are taken from between the keys and values, not from within a source', async () => {
    put(notebook([markdown('{"a": 1}', { id: 'm' })]), 0);
    await edit({ edit_mode: 'insert', cell_type: 'code', new_source: 'a\nb' });
    expect(text()).toContain('"outputs":[],"source":"a\\nb"},{"cell_type":"markdown"');
  });

  test('cells of one line each stay so among lines', async () => {
    const one = '{"cell_type": "markdown", "metadata": {}, "source": ["a"]}';
    const end = '\n ],\n "nbformat": 4,\n "nbformat_minor": 4\n}\n';
    put(`{\n "cells": [\n  ${one},\n  ${one}${end}`);
    await edit({ cell_id: 'cell-0', new_source: 'b\nc', cell_type: 'code' });
    await edit({ edit_mode: 'insert', cell_id: 'cell-0', cell_type: 'raw', new_source: 'd' });
    const changed =
      '{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["b\\n", "c"]}';
    const inserted = '{"cell_type": "raw", "metadata": {}, "source": ["d"]}';
    expect(text()).toBe(`{\n "cells": [\n  ${changed},\n  ${inserted},\n  ${one}${end}`);
  });

  test('where cells begin behind the bracket, a new one is written in lines like them', async () => {
    const raw = (source: string) =>
      `{\r\n\t\t"cell_type": "raw",\r\n\t\t"metadata": {},\r\n\t\t"source": "${source}"\r\n\t}`;
    const whole = (...list: string[]) =>
      `{\r\n\t"cells": [${list.join(', ')}],\r\n\t"nbformat": 4,\r\n\t"nbformat_minor": 0\r\n}`;
    put(whole(raw('1'), raw('2')));
    await edit({ edit_mode: 'insert', cell_id: 'cell-0', cell_type: 'raw', new_source: 'x' });
    expect(text()).toBe(whole(raw('1'), raw('x'), raw('2')));
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

  test.each([
    ['\t', '\r\n', '\ufeff', ''],
    [2, '\n', '', '\n'],
    [0, '\n', '\ufeff', '\n'],
  ] as const)(
    'a deleted cell leaves what would be there without it (%j %j)',
    async (indent, line, bom, end) => {
      const whole = (list: readonly Cell[]) =>
        bom +
        JSON.stringify(notebook(list), null, indent)
          .replace(/"big": ?0/, '"big": 12345678901234567, "one": 1.0, "e": "\\u00e9"')
          .replaceAll('\n', line) +
        end;
      for (const [index, { id }] of THREE.entries()) {
        put(whole(THREE));
        const receipt = await edit({ edit_mode: 'delete', cell_id: String(id) });
        expect(receipt.text).toContain(`Deleted cell ${index} (id ${id})`);
        expect(text()).toBe(whole(THREE.filter((_cell, at) => at !== index)));
      }
      put(whole(THREE.slice(0, 1)));
      await edit({ edit_mode: 'delete', cell_id: 'one' });
      expect(text()).toBe(whole([]));
    },
  );

  test('the answer names the id and the position of a new cell', async () => {
    put(notebook(THREE));
    const input = { edit_mode: 'insert', cell_id: 'two', cell_type: 'raw', new_source: '' };
    const receipt = await edit(input);
    expect(cells()[2]?.id).toMatch(/^[0-9a-f]{8}$/);
    expect(receipt.text).toContain(`position 2 with id ${cells()[2]?.id}`);
    put(notebook(THREE, 4));
    expect((await edit(input)).text).toContain('position 2 in ');
    expect(cells()[2]).toEqual({ cell_type: 'raw', metadata: {}, source: [] });
  });

  test('where all sources are strings, a new one is a string', async () => {
    put(notebook([markdown('a'), code('b')], 4));
    await edit({ edit_mode: 'insert', cell_type: 'raw', new_source: 'x\ny' });
    expect(cells()[0]?.source).toBe('x\ny');
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
    ['no nbformat', '{"cells": []}', 'notebook_invalid'],
    ['a long text for nbformat', `{"nbformat": "${'x'.repeat(100_000)}"}`, 'notebook_invalid'],
    [
      'a source twice',
      '{"nbformat": 4, "cells": [{"cell_type": "raw", "id": "x", "source": "", "source": ""}]}',
      'notebook_invalid',
    ],
    [
      'an id twice, once escaped',
      '{"nbformat": 4, "cells": [{"cell_type": "raw", "id": "x", "\\u0069d": "x", "source": ""}]}',
      'notebook_invalid',
    ],
  ])('a file with %s', async (_name, content, code) => {
    put(content);
    const receipt = await edit({ cell_id: 'x', new_source: 'y' });
    expect(receipt).toMatchObject({ is_error: true, code });
    expect(receipt.text.length).toBeLessThan(500);
    expect(text()).toBe(content);
  });

  test('the sentence names the version, and the positions of an id that is not unique', async () => {
    put('{"nbformat": 3, "worksheets": []}');
    expect(namesNumber(await edit({ cell_id: 'x', new_source: 'y' }), 3)).toBe(true);
    put(notebook([code('a', { id: 'x' }), code('b'), code('c', { id: 'x' })]));
    const receipt = await edit({ cell_id: 'x', new_source: 'y' });
    expect(receipt.text).toContain('positions 0, 2');
  });

  test('a position is written in one way alone', async () => {
    const before = put(notebook([code('a'), code('b')]));
    for (const id of ['cell-01', 'cell-+1', 'cell-1 ', 'cell--1', 'cell-1e0', '1']) {
      expect(await edit({ cell_id: id, new_source: 'y' })).toMatchObject({
        code: 'cell_not_found',
      });
    }
    expect(text()).toBe(before);
  });

  test('a parameter that the tool does not have is refused', () => {
    const check = (more: Readonly<Record<string, Json>>) => () =>
      checkToolCall(
        'direct_write',
        { tool: 'NotebookEdit', input: { notebook_path: 'n.ipynb', ...more } },
        0,
      );
    expect(check({ cell_id: 'a', new_source: 'b' })).not.toThrow();
    expect(check({ cell_id: 'a', new_source: 'b', cell_number: 0 })).toThrow();
    expect(check({ cell_id: 'a', new_source: '\ud800' })).toThrow();
    expect(check({ cell_id: 'a', new_source: 'b', cell_type: 'heading' })).toThrow();
  });

  test('N20 a notebook that changed since it was read, N19 or that lies elsewhere', async () => {
    const before = put(notebook(THREE));
    await session.call('Read', { file_path: file });
    writeFileSync(file, `${before} `);
    expect(await edit({ cell_id: 'one', new_source: 'y' })).toMatchObject({ code: 'file_changed' });
    const outside = join(session.outside, 'n.ipynb');
    writeFileSync(outside, before);
    symlinkSync(outside, join(session.project, 'link.ipynb'));
    for (const [path, code] of [
      [outside, 'outside_write_root'],
      ['link.ipynb', 'symbolic_link'],
    ] as const) {
      const input = { notebook_path: path, cell_id: 'one', new_source: 'y' };
      expect(await session.call('NotebookEdit', input)).toMatchObject({ code });
    }
    expect(readFileSync(outside, 'utf8')).toBe(before);
  });

  test('a result beyond the limit for a file, and indentation that would make it so', async () => {
    const big = put(notebook([...THREE, markdown('x'.repeat(10_484_600), { id: 'big' })]));
    expect(Buffer.byteLength(big)).toBeLessThan(10 * 1024 * 1024);
    const lines = '\n'.repeat(100_000);
    expect(await edit({ cell_id: 'two', new_source: lines })).toMatchObject({
      code: 'file_too_large',
    });
    expect(text()).toBe(big);
    const wide = put(
      JSON.stringify(notebook(THREE), null, 1).replaceAll('\n', `\n${' '.repeat(99_999)}`),
    );
    expect(await edit({ cell_id: 'one', new_source: lines })).toMatchObject({
      code: 'file_too_large',
    });
    expect(text()).toBe(wide);
    // Outputs that go make room for a source.
    put(notebook([code('a', { id: 'a', outputs: ['x'.repeat(10_485_000)] })]));
    expect(await edit({ cell_id: 'a', new_source: lines })).toMatchObject({ is_error: false });
  });

  test('names from a file stay short in an answer, and on its line', async () => {
    const long = 'x'.repeat(100_000);
    const id = `a\nb\u2028${long}`;
    put(notebook([code('a', { id }), code('b', { id: long })]));
    writeFileSync(file, text().replace('"python3"', '"\\ud800"'));
    const calls: JsonObject[] = [
      { cell_id: 'none', new_source: 'y' },
      { cell_id: id, new_source: 'y' },
      { cell_id: long, edit_mode: 'delete' },
    ];
    for (const call of calls) {
      const receipt = await edit(call);
      expect(receipt.text.length).toBeLessThan(700);
      expect(receipt.text).not.toMatch(/[\n\u2028]/);
    }
  });

  test('a great many keys take no great time', async () => {
    const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`k${index}`, 1]));
    put({ ...notebook(THREE), ...many }, 0);
    const start = performance.now();
    expect(await edit({ cell_id: 'one', new_source: 'y' })).toMatchObject({ is_error: false });
    expect(performance.now() - start).toBeLessThan(10_000);
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

/** Where the text of a cell begins and ends. */
function spanOf(content: string, index: number): readonly [number, number] {
  const tree = parseTree(content);
  const node = tree && findNodeAtLocation(tree, ['cells', index]);
  if (node === undefined) throw new Error(`there is no cell ${index}`);
  return [node.offset, node.offset + node.length];
}

/** Characters that two texts have in common at both ends, none of them counted twice. */
function inCommon(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return start + end;
}

test('N19 any change of any notebook is the change that was meant, and nothing else', async () => {
  // Read back once, for JSON has no way to write -0.
  const value = fc.jsonValue({ maxDepth: 3 }).map((any): Json => JSON.parse(JSON.stringify(any)));
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
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyCell, { maxLength: 5 }),
      fc.constantFrom<number | string>(0, 1, 2, '\t'),
      fc.constantFrom(4, 5),
      fc.constantFrom('replace', 'insert', 'delete'),
      fc.nat(),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('code', 'markdown', 'raw'),
      fc.record({
        line: fc.constantFrom('\n', '\r\n'),
        bom: fc.constantFrom('', '\ufeff'),
        end: fc.constantFrom('', ' \t', '\r\n'),
        odd: fc.constantFrom('0', '[1.0, 12345678901234567,1E5 ,"\\u00e9\\/é"]', '"\\u00E9"'),
      }),
      async (list, indent, minor, mode, pick, newSource, type, { line, bom, end, odd }) => {
        const named = list.map((cell, index) => (index % 2 ? { ...cell, id: `id${index}` } : cell));
        const model = notebook(named, minor) as unknown as { cells: Cell[] };
        const written = JSON.stringify(model, null, indent)
          .replace(/(?<="big": ?)0(?=\s*\})/, () => odd)
          .replaceAll('\n', line);
        const before = put(bom + written + end);
        const oddValue = JSON.parse(odd);
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
        const after = text();
        if (result.code === 'edit_changes_nothing') {
          expect(after).toBe(before);
          return;
        }
        expect(result).toMatchObject({ is_error: false });
        if (mode === 'replace') {
          const [[start, stop], [, newStop]] = [spanOf(before, index), spanOf(after, index)];
          expect(after.slice(0, start)).toBe(before.slice(0, start));
          expect(after.slice(newStop)).toBe(before.slice(stop));
        } else if (list.length > 0) {
          expect(inCommon(before, after)).toBe(Math.min(before.length, after.length));
        }
        if (line === '\r\n') expect(after).not.toMatch(/(?<!\r)\n/);
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
        expect(parsed()).toEqual({
          ...model,
          metadata: { kernelspec: { name: 'python3' }, big: oddValue },
        });
      },
    ),
    { numRuns: 200 },
  );
});
