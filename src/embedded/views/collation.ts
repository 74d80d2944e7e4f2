/**
 * CouchDB's order of JSON values: null, false, true, numbers, strings, arrays, objects.
 * Strings follow the ICU root order, as CouchDB's do, for characters up to U+024F (one rank per
 * character, then the exact spelling); all others sort behind by code point.
 */

const TABLE_SIZE = 0x250;
const END = '\u0000';
/** Between the ranks of a string and its exact spelling. */
const TIE = '\u0001';

/**
 * A text whose code point order is the order of the values, and of which none is a prefix of
 * another: whatever is appended sorts within equal values.
 */
export function encodeKey(value: unknown): string {
  switch (typeof value) {
    case 'boolean':
      return value ? `3${END}` : `2${END}`;
    case 'number':
      return Number.isFinite(value) ? `4${encodeNumber(value)}${END}` : `1${END}`;
    case 'string':
      return `5${encodeString(value)}${END}`;
    case 'object':
      if (value === null) return `1${END}`;
      if (Array.isArray(value)) return `6${value.map(encodeKey).join('')}${END}`;
      return `7${Object.entries(value)
        .map(([name, member]) => encodeKey(name) + encodeKey(member))
        .join('')}${END}`;
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
      return `1${END}`;
  }
}

/** Negative, zero or positive as `a` sorts before, with or after `b`. */
export function compareKeys(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (a === b) return 0;
  const left = encodeKey(a);
  const right = encodeKey(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

const number = new DataView(new ArrayBuffer(8));

/** The bits of a double, flipped so that they sort like the number; 16 hex digits. */
function encodeNumber(value: number): string {
  number.setFloat64(0, value === 0 ? 0 : value);
  const bits = number.getBigUint64(0);
  const flipped = value < 0 ? ~bits & 0xffff_ffff_ffff_ffffn : bits | 0x8000_0000_0000_0000n;
  return flipped.toString(16).padStart(16, '0');
}

type Ranks = { readonly primary: readonly string[]; readonly exact: readonly string[] };

function encodeString(text: string): string {
  let primary = '';
  let exact = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    primary += ranks.primary[code] ?? character;
    exact += ranks.exact[code] ?? character;
  }
  return primary + TIE + exact;
}

/**
 * Ranks become characters from U+0002 on: U+0000 and U+0001 are ours. There are fewer than
 * 0x250 − 2 distinct primary ranks, so the first character without a rank stays above them.
 */
const ranks: Ranks = rankCharacters();

function rankCharacters(): Ranks {
  const base = new Intl.Collator('und', { sensitivity: 'base' });
  const full = new Intl.Collator('und', { sensitivity: 'variant' });
  const characters = Array.from({ length: TABLE_SIZE }, (_, code) => String.fromCharCode(code));
  characters.sort((a, b) => full.compare(a, b) || (a < b ? -1 : 1));
  const primary: string[] = [];
  const exact: string[] = [];
  let rank = 2;
  characters.forEach((character, position) => {
    const code = character.charCodeAt(0);
    const before = characters[position - 1];
    if (before !== undefined && base.compare(before, character) !== 0) rank += 1;
    primary[code] = String.fromCharCode(rank);
    exact[code] = String.fromCharCode(position + 2);
  });
  return { primary, exact };
}
