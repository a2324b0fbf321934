import type { FileHandle } from 'node:fs/promises';
import { truncateText } from '../base/truncate-text.ts';
import type { StreamEnd } from '../process/stream-records.ts';
import { splitBom } from './decode-text.ts';
import { openRegularFile } from './open-verified.ts';
import { MAX_RECEIPT_TEXT_BYTES } from './receipt-limit.ts';
import { describeGaps, runRipgrep, type SearchGaps } from './ripgrep.ts';
import type { SearchPosition } from './search-cursor.ts';
import { joinRecords, type SearchRecord } from './search-records.ts';
import { descriptorPath } from './search-root.ts';
import { showPath } from './show-path.ts';
import type { ToolContext } from './tool.ts';

/** Longest part of a line that ripgrep hands over, in characters as a reader counts them. */
const MAX_COLUMNS = 400;
/** The same in bytes: one such character can be made of any number of code points. */
const MAX_SHOWN_BYTES = 4 * 1024;
/** Leaves room for the closing note with its cursor. */
const MAX_LIST_BYTES = MAX_RECEIPT_TEXT_BYTES - 10 * 1024;

export interface MatchPage {
  readonly text: string;
  readonly shown: number;
  /** Whether a matching line was left for the next page. */
  readonly full: boolean;
  readonly last: SearchPosition | undefined;
  /** What is missing from the page. */
  readonly gaps: SearchGaps;
}

export interface PageRequest {
  readonly contextLines: number;
  readonly after: SearchPosition | undefined;
  readonly limit: number;
}

/**
 * Second pass: the lines themselves, from just the files that the page needs, in the order given. ripgrep is handed
 * descriptors of files that were opened and checked as for Read, so no byte can come from anywhere else.
 */
export async function readMatches(
  pattern: readonly string[],
  files: readonly string[],
  request: PageRequest,
  context: ToolContext,
): Promise<MatchPage> {
  const handles: FileHandle[] = [];
  const names = new Map<string, string>();
  const page = new PageText(request, names);
  try {
    for (const path of files) {
      // What has been moved, or closed, since it was counted is as if it had not been there.
      const opened = await openRegularFile(path, context).catch(() => undefined);
      if (opened === undefined) continue;
      handles.push(opened.handle);
      names.set(descriptorPath(opened.handle, path), path);
    }
    if (names.size > 0) {
      const end = await runRipgrep(
        [...lineFlags(request.contextLines), ...pattern, '--', ...names.keys()],
        '/',
        '\n',
        joinRecords((record) => page.add(record)),
        context.stopping,
      );
      page.end = end;
    }
  } finally {
    for (const handle of handles) await handle.close();
  }
  return page.finish();
}

function lineFlags(contextLines: number): string[] {
  return [
    '--threads=1',
    '--text',
    '--line-number',
    '--no-heading',
    '--with-filename',
    '--null',
    `--max-columns=${MAX_COLUMNS}`,
    '--max-columns-preview',
    `--context=${contextLines}`,
  ];
}

class PageText {
  /** How ripgrep ended, when it ran. */
  end: StreamEnd | undefined;
  readonly #request: PageRequest;
  readonly #names: ReadonlyMap<string, string>;
  #text = '';
  #bytes = 0;
  #shown = 0;
  #full = false;
  #contextCut = false;
  #last: SearchPosition | undefined;

  constructor(request: PageRequest, names: ReadonlyMap<string, string>) {
    this.#request = request;
    this.#names = names;
  }

  /** Returns false when the page is full and a matching line is left over. */
  add(record: SearchRecord): boolean {
    const path = this.#names.get(record.path.toString('utf8'));
    const [, number = '', kind] = /^(\d+)([:-])/.exec(record.rest.toString('latin1', 0, 24)) ?? [];
    if (path === undefined || kind === undefined) return true;
    const name = Buffer.from(path);
    const { after, limit } = this.#request;
    const line = Number(number);
    if (after?.path.equals(name) && line <= after.line) return true;
    const content = showContent(record.rest.subarray(number.length + 1), line);
    const shown = `${showPath(path)}${kind}${number}${kind}${content}\n`;
    if (kind === ':') {
      // One match fits alone, however long it is, or there would be no way past it.
      if (this.#shown > 0 && (this.#shown >= limit || !this.#fits(shown))) {
        this.#full = true;
        return false;
      }
      this.#shown += 1;
      this.#last = { path: name, line };
    } else if (!this.#fits(shown, this.#shown > 0 ? 0 : roomForMatch(path))) {
      this.#contextCut = true;
      return true;
    }
    this.#text += shown;
    this.#bytes += Buffer.byteLength(shown);
    return true;
  }

  finish(): MatchPage {
    const ended = this.end === undefined ? undefined : describeGaps(this.end);
    const dropped = this.end?.droppedRecords ?? 0;
    const notes = [...(ended?.notes ?? [])];
    if (this.#contextCut) notes.push('some context lines left out; Read shows them');
    if (dropped > 0) notes.push(`${dropped} lines too long to show; Read shows them cut`);
    const incomplete = ended?.incomplete === true || this.#contextCut || dropped > 0;
    return {
      text: this.#text,
      shown: this.#shown,
      full: this.#full,
      last: this.#last,
      gaps: { notes, incomplete },
    };
  }

  #fits(line: string, reserved = 0): boolean {
    return this.#bytes + Buffer.byteLength(line) + reserved <= MAX_LIST_BYTES;
  }
}

/** What the first match may need, whose context comes before it. */
function roomForMatch(path: string): number {
  return Buffer.byteLength(showPath(path)) + MAX_SHOWN_BYTES + 64;
}

function showContent(bytes: Buffer, line: number): string {
  const decoded = bytes.toString('utf8').replace(/\r$/, '');
  const text = line === 1 ? splitBom(decoded).text : decoded;
  const cut = truncateText(text, MAX_SHOWN_BYTES);
  return cut.length === text.length ? text : `${cut} [... omitted end of long line]`;
}
