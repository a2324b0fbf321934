import { splitFrontMatter } from './split-front-matter.ts';

/** What a skill tells a model, or in words why it tells nothing. */
export type Instructions =
  | { readonly kind: 'instructions'; readonly body: string }
  | { readonly kind: 'refused'; readonly reason: string };

export function takeInstructions(text: string): Instructions {
  const split = splitFrontMatter(text);
  if (split.kind === 'refused') return split;
  return split.body.trim() === ''
    ? { kind: 'refused', reason: 'has no instructions behind its front matter' }
    : { kind: 'instructions', body: split.body };
}
