import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../base/canonical-json.ts';

export interface DemoStep {
  readonly text: string;
  readonly tool_calls?: readonly { readonly name: string; readonly input: JsonObject }[];
}

export const DEMO_PROMPT =
  'The shop charges 7 % tax on books and should charge 19 %. Find the place, correct it, and check.';

const WRONG = 'export const BOOK_TAX = 0.07;';
const RIGHT = 'export const BOOK_TAX = 0.19;';

/** Small enough to follow, with one line that is wrong. */
export function createDemoProject(directory: string): void {
  mkdirSync(join(directory, 'src'), { recursive: true });
  const write = (name: string, lines: readonly string[]): void =>
    writeFileSync(join(directory, name), `${lines.join('\n')}\n`);
  write('README.md', ['# Shop', '', 'Adds tax to the price of books.']);
  write('src/tax.js', ['// Rates by kind of goods.', WRONG, 'export const FOOD_TAX = 0.07;']);
  write('src/price.js', [
    "import { BOOK_TAX } from './tax.js';",
    '',
    'export function bookPrice(net) {',
    '  return net * (1 + BOOK_TAX);',
    '}',
  ]);
}

/** What the scripted client answers to one pending turn after another. A person's model decides this by itself. */
export const DEMO_STEPS: readonly DemoStep[] = [
  { text: 'I look at what is there.', tool_calls: [{ name: 'FindFiles', input: {} }] },
  {
    text: 'Where does the rate come from?',
    tool_calls: [{ name: 'SearchText', input: { query: 'BOOK_TAX' } }],
  },
  { text: 'That file, then.', tool_calls: [{ name: 'Read', input: { file_path: 'src/tax.js' } }] },
  {
    text: 'One line is wrong; the rate for food stays.',
    tool_calls: [
      { name: 'Edit', input: { file_path: 'src/tax.js', old_string: WRONG, new_string: RIGHT } },
    ],
  },
  {
    text: 'Checking.',
    tool_calls: [
      { name: 'Read', input: { file_path: 'src/tax.js' } },
      { name: 'SearchText', input: { query: '0.07' } },
    ],
  },
  { text: 'Books are taxed at 19 % now; food is as it was.' },
];
