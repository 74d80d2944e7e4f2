import type { Failure } from './step.js';

/** Whether the name or the code of a failure matches a pattern; each `*` stands for any text. */
export function matchesFailure(pattern: string, { name, code }: Failure): boolean {
  return matches(pattern, name) || (code !== undefined && matches(pattern, String(code)));
}

/** Without regular expressions, which patterns of users could make very slow. */
function matches(pattern: string, word: string): boolean {
  const others = pattern.split('*');
  const first = others.shift() as string;
  const last = others.pop();
  if (last === undefined) return pattern === word;
  if (!word.startsWith(first) || !word.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = word.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at + last.length <= word.length;
}
