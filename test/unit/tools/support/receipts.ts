import type { Receipt } from '../../../../src/ledger/actions.ts';
import { look } from './look.ts';
import type { ToolSession } from './tool-session.ts';

/** The lines that Read shows, without their numbers, by number. Notes have no number and are left out. */
export function shownLines(receipt: Receipt): Map<number, string> {
  const lines = new Map<number, string>();
  for (const line of receipt.text.split('\n')) {
    const match = /^(\d+)\t(.*)$/s.exec(line);
    if (match !== null) lines.set(Number(match[1]), match[2] ?? '');
  }
  return lines;
}

/** The lines of a list, without the closing note, which stands in brackets. */
export function listed(receipt: Receipt): string[] {
  return receipt.text.split('\n').filter((line) => !line.startsWith('['));
}

/** A value that a closing note carries for the next call. */
export function cursorOf(receipt: Receipt): string | undefined {
  return /\bcursor ([\w-]+)/.exec(receipt.text.split('\n').at(-1) ?? '')?.[1];
}

/** Follows cursors to the end and returns every page. */
export async function allPages(
  session: ToolSession,
  tool: 'FindFiles' | 'SearchText',
  input: { readonly [parameter: string]: string | number | boolean },
  between: (page: Receipt) => void = () => {},
): Promise<Receipt[]> {
  const pages: Receipt[] = [];
  for (let cursor: string | undefined; pages.length < 1_000; ) {
    const page = await look(session, tool, cursor === undefined ? input : { ...input, cursor });
    if (page.is_error) throw new Error(page.text);
    pages.push(page);
    cursor = cursorOf(page);
    if (cursor === undefined) return pages;
    between(page);
  }
  throw new Error('the pages have no end');
}

/** Whether the number stands in the text: positions have no other place in a receipt. */
export function namesNumber(receipt: Receipt, value: number): boolean {
  return new RegExp(`(?<!\\d)${value}(?!\\d)`).test(receipt.text);
}
