import { type Node, parseTree } from 'jsonc-parser';
import { ReinsError } from '../../base/reins-error.ts';
import { showName } from './show-name.ts';

/** A part of a notebook's text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface NotebookProperty extends Span {
  readonly key: string;
  readonly value: Span;
}

export interface NotebookCell extends Span {
  readonly id: string | undefined;
  readonly type: string;
  readonly properties: readonly NotebookProperty[];
}

/** Where everything is in the text of a notebook, so that a change can leave the rest byte for byte. */
export interface Notebook {
  readonly minor: number;
  /** Between the opening brace and the first key. */
  readonly rootSeparator: string;
  /** Between the first key's colon and its value. */
  readonly colonSpace: string;
  readonly cellsArray: Span;
  readonly cells: readonly NotebookCell[];
}

/** Deeper than any notebook, and shallow enough for the parser. Outputs of plotting libraries reach about 20. */
const MAX_DEPTH = 200;

/** Throws `notebook_invalid` with the reason. */
export function parseNotebook(text: string, path: string): Notebook {
  const invalid = (what: string): ReinsError =>
    new ReinsError(
      'notebook_invalid',
      `${path} cannot be changed cell by cell: ${what}; Edit works on its text.`,
    );
  if (depthOf(text) > MAX_DEPTH) throw invalid(`it is nested deeper than ${MAX_DEPTH} levels`);
  try {
    JSON.parse(text);
  } catch {
    throw invalid('it is not valid JSON');
  }
  const root = parseTree(text, [], { disallowComments: true, allowTrailingComma: false });
  if (root?.type !== 'object') throw invalid('it is not a JSON object');
  const properties = toProperties(root, invalid);
  const major = readValue(root, 'nbformat');
  if (major !== 4) {
    throw invalid(
      `its nbformat is ${typeof major === 'number' ? major : 'no number'}, and 4 is supported`,
    );
  }
  const minor = readValue(root, 'nbformat_minor');
  const array = childOf(root, 'cells');
  if (array?.type !== 'array') throw invalid('it has no array named cells');
  const cells = (array.children ?? []).map((cell, index): NotebookCell => {
    if (cell.type !== 'object') throw invalid(`cell ${index} is not an object`);
    const id = readValue(cell, 'id');
    const type = readValue(cell, 'cell_type');
    if (typeof type !== 'string') throw invalid(`cell ${index} has no cell_type`);
    return {
      ...toSpan(cell),
      id: typeof id === 'string' ? id : undefined,
      type,
      properties: toProperties(cell, invalid),
    };
  });
  const first = properties[0] ?? { start: root.offset + 1, value: { start: root.offset + 1 } };
  const firstKey = text.slice(first.start, first.value.start);
  return {
    minor: typeof minor === 'number' ? minor : 0,
    rootSeparator: text.slice(root.offset + 1, first.start),
    colonSpace: firstKey.slice(firstKey.lastIndexOf(':') + 1),
    cellsArray: toSpan(array),
    cells,
  };
}

function toProperties(object: Node, invalid: (what: string) => ReinsError): NotebookProperty[] {
  const properties = (object.children ?? []).flatMap((property): NotebookProperty[] => {
    const [key, value] = property.children ?? [];
    return key === undefined || value === undefined
      ? []
      : [{ ...toSpan(property), key: String(key.value), value: toSpan(value) }];
  });
  const seen = new Set<string>();
  for (const { key } of properties) {
    if (seen.has(key)) throw invalid(`the key ${showName(key)} occurs twice in one object`);
    seen.add(key);
  }
  return properties;
}

function childOf(object: Node, key: string): Node | undefined {
  return object.children?.find((property) => property.children?.[0]?.value === key)?.children?.[1];
}

function readValue(object: Node, key: string): unknown {
  return childOf(object, key)?.value;
}

function toSpan(node: Node): Span {
  return { start: node.offset, end: node.offset + node.length };
}

/** Brackets that are open at once, outside of strings. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return deepest;
}
