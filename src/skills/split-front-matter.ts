import { parseDocument } from 'yaml';

const FENCE = '---\n';

/**
 * The text behind the front matter of a file, the whole text where there is none. Undefined for front matter that does
 * not end or is no YAML mapping: what is to be dropped has to be recognised for certain. Nothing of it is used.
 */
export function splitFrontMatter(text: string): string | undefined {
  if (!text.startsWith(FENCE)) return text;
  const end = /^---[ \t]*(?:\n|$)/m.exec(text.slice(FENCE.length));
  if (end === null) return undefined;
  const yaml = text.slice(FENCE.length, FENCE.length + end.index);
  const document = parseDocument(yaml, { schema: 'core', uniqueKeys: true });
  if (document.errors.length > 0) return undefined;
  const value: unknown = document.toJS({ maxAliasCount: 0 });
  const isMapping = value === null || (typeof value === 'object' && !Array.isArray(value));
  return isMapping ? text.slice(FENCE.length + end.index + end[0].length) : undefined;
}
