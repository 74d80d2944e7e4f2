/** A template tag that names `form.link`; a look at one takes as long as it is. */
const tags = /\{\{\{?[^{}]*(?:(?<![\w.])|(?<=@root\.|this\.))form\.link\b[^{}]*\}?\}\}/g;
/** Tags that leave it as it is: its text, its JSON, a question whether it is there, a comment. */
const plain =
  /^\{\{\{?(?:~?!.*|~?&?\s*(?:json\s+|#(?:if|unless)\s+|else\s+if\s+)?(?:@root\.|this\.|(?:\.\.\/)+)?form\.link\s*~?)\}?\}\}$/;

/**
 * Returns the first template tag in which `form.link` is changed; undefined: there is none. What stands for the link in
 * stored parameters is no link, so that a part of it or what a helper makes of it is none either.
 */
export function changedFormLink(value: unknown): string | undefined {
  if (typeof value === 'string')
    return [...value.matchAll(tags)].map(([tag]) => tag).find((tag) => !plain.test(tag));
  if (typeof value !== 'object' || value === null) return undefined;
  for (const one of Object.values(value)) {
    const found = changedFormLink(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
