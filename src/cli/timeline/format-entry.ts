import { styleText } from 'node:util';
import { escapeText } from '../../base/escape-text.ts';
import type { TimelineEntry } from './describe-event.ts';

export interface FormatOptions {
  readonly colour: boolean;
  /** Columns of the terminal; a first line is cut to them. */
  readonly columns: number;
}

/** Lines of a diff shown in a timeline; the whole of it is in `--json`. */
const MAX_DIFF_LINES = 60;
const LABEL_WIDTH = 12;
const INDENT = ' '.repeat('00:00:00'.length + 2);

/** An entry as lines for a terminal, escapes and all. Everything that came from a file or a model is escaped. */
export function formatEntry(entry: TimelineEntry, options: FormatOptions): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    options.colour ? styleText(style, text, { validateStream: false }) : text;
  const time = new Date(entry.at).toLocaleTimeString('en-GB');
  const label = entry.label.padEnd(LABEL_WIDTH);
  const room = Math.max(20, options.columns - INDENT.length - LABEL_WIDTH - 1);
  const text = cut(escapeText(entry.text.replaceAll(/\s*\n\s*/g, ' ⏎ ')), room);
  const styles = { plain: 'reset', good: 'green', bad: 'red', quiet: 'dim' } as const;
  const head = `${paint('dim', time)}  ${paint(styles[entry.mood], label)} ${entry.mood === 'quiet' ? paint('dim', text) : text}`;
  return [head.trimEnd(), ...formatDiff(entry.diff, paint)].join('\n');
}

function formatDiff(
  diff: string | undefined,
  paint: (style: 'green' | 'red' | 'cyan' | 'dim', text: string) => string,
): string[] {
  if (diff === undefined) return [];
  const lines = diff.split('\n').filter((line) => line !== '');
  const shown = lines.slice(0, MAX_DIFF_LINES).map((line) => {
    const safe = escapeText(line);
    if (line.startsWith('@@')) return paint('cyan', safe);
    if (line.startsWith('---') || line.startsWith('+++')) return paint('dim', safe);
    if (line.startsWith('+')) return paint('green', safe);
    return line.startsWith('-') ? paint('red', safe) : safe;
  });
  const rest = lines.length - shown.length;
  if (rest > 0) shown.push(paint('dim', `… ${rest} more lines; --json has them`));
  return shown.map((line) => INDENT + line);
}

function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
}
