/** So deep may blocks and subexpressions of a template be nested. */
export const deepestTemplate = 100;

/**
 * Whether a template nests deeper than `deepestTemplate`. The parser of Handlebars takes time that
 * grows with the cube of the depth (8,000 blocks: 20 s), so this is asked before; it looks once at
 * every character.
 */
export function nestsTooDeep(template: string): boolean {
  const open: number[] = [];
  let depth = 0;
  for (const [, tag = ''] of template.matchAll(/\{\{([^}]*)/g)) {
    if (parentheses(tag) > deepestTemplate) return true;
    const change = levelOf(tag);
    if (change === 'close') depth -= open.pop() ?? 0;
    if (change === 'open') open.push(1);
    if (change === 'chain' && open.length > 0) open.push((open.pop() ?? 0) + 1);
    if (change === 'open' || change === 'chain') depth += 1;
    if (depth > deepestTemplate) return true;
  }
  return false;
}

/** `{{else if x}}` is a block of its own inside, closed together with the one around it. */
function levelOf(tag: string): 'open' | 'close' | 'chain' | undefined {
  const [, sign] = /^[{~&\s]*(#|\/|\^(?!\s*~?$)|else\s+[^\s~])/.exec(tag) ?? [];
  if (sign === undefined) return undefined;
  if (sign === '/') return 'close';
  return sign.startsWith('else') ? 'chain' : 'open';
}

function parentheses(tag: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [letter] of tag.matchAll(/[()]/g)) {
    depth += letter === '(' ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
