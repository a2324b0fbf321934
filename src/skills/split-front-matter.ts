import { isMap, parseDocument } from 'yaml';

/** Front matter is a name and a description. What is longer is not parsed, since parsing takes time. Bytes. */
export const MAX_FRONT_MATTER_BYTES = 8 * 1024;

/** Opens and closes front matter. Claude Code takes blanks behind the dashes for nothing as well. */
const FENCE = /^---[ \t]*$/;

export type FrontMatterSplit =
  | { readonly kind: 'body'; readonly body: string }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * The text behind the front matter of a file with line feeds, the whole text where there is none. What is to be dropped
 * has to be recognised for certain: front matter that does not end, is no YAML mapping or is too long is refused. Nothing
 * of it is used, and no alias in it is followed.
 */
export function splitFrontMatter(text: string): FrontMatterSplit {
  const lines = text.split('\n');
  if (!FENCE.test(lines[0] ?? '')) return { kind: 'body', body: text };
  const end = lines.findIndex((line, index) => index > 0 && FENCE.test(line));
  if (end < 0) return { kind: 'refused', reason: 'has front matter that does not end' };
  const yaml = lines.slice(1, end).join('\n');
  if (Buffer.byteLength(yaml) > MAX_FRONT_MATTER_BYTES) {
    return {
      kind: 'refused',
      reason: `has front matter of more than ${MAX_FRONT_MATTER_BYTES} bytes`,
    };
  }
  return isMapping(yaml)
    ? { kind: 'body', body: lines.slice(end + 1).join('\n') }
    : { kind: 'refused', reason: 'has front matter that is no YAML mapping' };
}

function isMapping(yaml: string): boolean {
  try {
    const { errors, contents } = parseDocument(yaml, {
      schema: 'core',
      uniqueKeys: false,
      logLevel: 'silent',
    });
    return errors.length === 0 && (contents === null || isMap(contents));
  } catch {
    return false;
  }
}
