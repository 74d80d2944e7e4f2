/** A class of Unicode (`\p{L}`) is made of hundreds of ranges; where it is repeated they are shared. */
const classWeight = 10;

/**
 * How much work a regular expression of RE2 makes: every repetition is written out when it is
 * compiled (`a{1,1000}` becomes a thousand optional `a`), and matching looks at all of that for every
 * character of a text. Counts what a pattern becomes, within a small factor, in one pass over it. A
 * text that is no pattern has some weight, too.
 */
export function patternWeight(pattern: string): number {
  const open: Group[] = [];
  let group: Group = { sum: 0, last: 0 };
  let sum = 0;
  for (let at = 0; at < pattern.length;) {
    const token = tokenAt(pattern, at);
    at = token.end;
    switch (token.kind) {
      case 'open':
        open.push(group);
        group = { sum: 1, last: 0 };
        break;
      case 'close': {
        const around = open.pop();
        if (around !== undefined) group = { sum: around.sum + group.sum, last: group.sum };
        break;
      }
      case 'repeat':
        group = {
          sum: group.sum + group.last * (token.times - 1),
          last: group.last * token.times,
        };
        break;
      case 'part':
        sum += token.classes * classWeight;
        group = { sum: group.sum + token.weight, last: token.weight };
    }
  }
  for (const around of open) sum += around.sum;
  return sum + group.sum;
}

/** The weight of what is open, and of its last part, to which a repetition belongs. */
type Group = { readonly sum: number; readonly last: number };

type Token = { readonly end: number } & (
  | { readonly kind: 'open' | 'close' }
  | { readonly kind: 'repeat'; readonly times: number }
  | { readonly kind: 'part'; readonly weight: number; readonly classes: number }
);

function tokenAt(pattern: string, at: number): Token {
  switch (pattern.charAt(at)) {
    case '(':
      return { kind: 'open', end: at + 1 };
    case ')':
      return { kind: 'close', end: at + 1 };
    case '[':
      return classAt(pattern, at);
    case '\\':
      return escapeAt(pattern, at);
    case '{':
      return repeatAt(pattern, at);
    default:
      return { kind: 'part', end: at + 1, weight: 1, classes: 0 };
  }
}

const repetition = /\{(\d{1,9})(,(\d{0,9}))?\}/y;

function repeatAt(pattern: string, at: number): Token {
  repetition.lastIndex = at;
  const [text, least, range, most = ''] = repetition.exec(pattern) ?? [];
  if (text === undefined) return { kind: 'part', end: at + 1, weight: 1, classes: 0 };
  const times = Math.max(1, Number(least), Number(most));
  // What may be left out is written out as a choice beside the part itself.
  return { kind: 'repeat', end: at + text.length, times: range === undefined ? times : 2 * times };
}

/** Nothing between `\Q` and `\E` has a meaning. */
function escapeAt(pattern: string, at: number): Token {
  const letter = pattern[at + 1] ?? '';
  if (letter === 'Q') {
    const close = pattern.indexOf('\\E', at + 2);
    const end = close < 0 ? pattern.length : close + 2;
    return { kind: 'part', end, weight: end - at, classes: 0 };
  }
  return { kind: 'part', end: at + 2, weight: 1, classes: isClass(letter) ? 1 : 0 };
}

/** A class in brackets: `[^]\]a-z]`. */
function classAt(pattern: string, at: number): Token {
  let classes = 0;
  let end = at + 1;
  if (pattern[end] === '^') end += 1;
  if (pattern[end] === ']') end += 1;
  while (end < pattern.length && pattern[end] !== ']') {
    const isEscape = pattern[end] === '\\';
    if (isEscape && isClass(pattern[end + 1] ?? '')) classes += 1;
    end += isEscape ? 2 : 1;
  }
  return { kind: 'part', end: end + 1, weight: 1, classes };
}

function isClass(letter: string): boolean {
  return letter === 'p' || letter === 'P';
}
