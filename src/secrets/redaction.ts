/** Hides secrets in a text, or in every text (keys, too) of a JSON value, which it copies. */
export type Redact = <T>(value: T) => T;

/** What stands in place of a text that is hidden. */
export const hiddenSecret = '[secret]';
/** Shorter secrets are hidden only as a whole value: inside other texts they would match by chance. */
export const shortestPart = 4;

/**
 * Returns a function that hides these clear texts, also where they are percent-encoded, escaped for
 * JSON or HTML, quoted-printable, in hex, in small or capital letters, or inside something that was encoded in
 * base64 (`Authorization: Basic`). The list is read at each call, so texts may be added to it later.
 */
export function redactor(clear: readonly string[]): Redact {
  let known = -1;
  let newest: string | undefined;
  let hide: (value: string) => string = (value) => value;
  const text = (value: string): string => {
    if (clear.includes(value) && value !== '') return hiddenSecret;
    // A list that forgets its oldest text for a new one keeps its length.
    if (known !== clear.length || newest !== clear.at(-1)) {
      known = clear.length;
      newest = clear.at(-1);
      hide = hiderOf(clear);
    }
    return hide(value);
  };
  const deep = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number')
      return clear.some((one) => isNumber(one, value)) ? hiddenSecret : value;
    if (Array.isArray(value)) return value.map(deep);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), deep(item)]));
  };
  return <T>(value: T): T => (clear.length === 0 ? value : (deep(value) as T));
}

/** Hides every spelling of every secret, the longest first, so that no rest of one stays readable. */
function hiderOf(clear: readonly string[]): (value: string) => string {
  const long = [...clear, ...clear.flatMap(partsOfAddress), ...clear.flatMap(linesOf)].filter(
    (secret) => secret.length >= shortestPart,
  );
  const plain = long.flatMap(spellings).map((text): Spelling => ({ text }));
  const all = [...plain, ...long.flatMap(inBase64)].sort((a, b) => b.text.length - a.text.length);
  const lengthy = all.filter(({ text }) => text.length > longestInPattern);
  const patterns = patternsOf(all.slice(lengthy.length));
  return (value) => {
    const without = lengthy.reduce(withoutSpelling, value);
    return patterns.reduce((text, pattern) => text.replace(pattern, hiddenSecret), without);
  };
}

/** What is longer is searched as a text: an expression of it could become larger than there may be any. */
const longestInPattern = 512;
/** So many characters may the source of one expression have. */
const longestPattern = 32_768;

/** Expressions for these, in their order. */
function patternsOf(all: readonly Spelling[]): readonly RegExp[] {
  const groups: string[][] = [];
  let left = 0;
  for (const source of new Set(all.map(sourceOf))) {
    left -= source.length;
    const group = left < 0 ? undefined : groups.at(-1);
    if (group === undefined) {
      groups.push([source]);
      left = longestPattern - source.length;
    } else group.push(source);
  }
  return groups.map((sources) => new RegExp(sources.join('|'), 'g'));
}

function withoutSpelling(value: string, { text, before, after }: Spelling): string {
  if (value.length < text.length) return value;
  let rest = value;
  let found = '';
  for (let at = rest.indexOf(text); at >= 0; at = rest.indexOf(text)) {
    const start = before === true && isBase64(rest[at - 1]) ? at - 1 : at;
    const end = rest.slice(at + text.length);
    found += `${rest.slice(0, start)}${hiddenSecret}`;
    rest = after === true ? end.replace(/^[\w+/-]={0,2}/, '') : end;
  }
  return `${found}${rest}`;
}

function isBase64(char: string | undefined): boolean {
  return char !== undefined && /[\w+/-]/.test(char);
}

/** Whether a secret of digits was read as this number. */
function isNumber(secret: string, value: number): boolean {
  return /^-?\d+(?:\.\d+)?$/.test(secret) && Number(secret) === value;
}

/** Shorter lines, and words in small or capital letters, are in harmless texts as well. */
const shortestOther = 8;

/** Of a secret that is longer, in characters, single lines are not hidden: that would take too long. */
const longestWithLines = 16_384;

/** The lines of a text that has several: mails and logs quote single ones. */
function linesOf(secret: string): readonly string[] {
  if (secret.length > longestWithLines) return [];
  const lines = secret.split(/[\r\n]+/);
  return lines.length === 1
    ? []
    : lines.map((line) => line.trim()).filter(({ length }) => length >= shortestOther);
}

/** Segments of a path that are shorter name a place (`services`, `v1`), and are in every address. */
const shortestSegment = 16;
/** Shorter values of a query are words like `json`. */
const shortestValue = 8;

/**
 * What makes a secret of an address: its path, query, user and password, as servers repeat them. The
 * host is not hidden.
 */
function partsOfAddress(secret: string): readonly string[] {
  if (!/^https?:\/\//i.test(secret) || !URL.canParse(secret)) return [];
  const { pathname, search, searchParams, username, password } = new URL(secret);
  const segments = pathname.split('/').filter(({ length }) => length >= shortestSegment);
  const values = [...searchParams.values()].filter(({ length }) => length >= shortestValue);
  const whole = pathname.length > shortestPart ? [`${pathname}${search}`, pathname] : [];
  const all = [...whole, search.slice(1), username, password, ...segments, ...values];
  return [...new Set(all.flatMap((one) => [one, decoded(one)]))];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function spellings(secret: string): readonly string[] {
  const percent = percentEncoded(secret);
  const hex = Buffer.from(secret, 'utf8').toString('hex');
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    percent,
    // Escapes may be in lower case, and forms write a space as a plus sign.
    percent.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
    percent.replaceAll('%20', '+'),
    inJson,
    // JSON inside JSON: what a server answered, in the body of another request.
    JSON.stringify(inJson).slice(1, -1),
    hex,
    hex.toUpperCase(),
    ...htmlEscaped(secret),
    quotedPrintable(secret),
    ...(secret.length < shortestOther ? [] : [secret.toLowerCase(), secret.toUpperCase()]),
  ];
}

/** As HTML quotes it: with few escapes, or with all that Handlebars makes. */
function htmlEscaped(secret: string): readonly string[] {
  const few = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quotes = few.replaceAll('"', '&quot;');
  return [
    few,
    quotes,
    quotes.replaceAll("'", '&#39;'),
    quotes.replaceAll("'", '&#x27;').replaceAll('`', '&#x60;').replace(/=/g, '&#x3D;'),
  ];
}

/** As a mail quotes it, on one line. */
function quotedPrintable(secret: string): string {
  return [...Buffer.from(secret, 'utf8')]
    .map((byte) => {
      const isPlain = byte >= 32 && byte <= 126 && byte !== 61;
      const hex = byte.toString(16).toUpperCase().padStart(2, '0');
      return isPlain ? String.fromCharCode(byte) : `=${hex}`;
    })
    .join('');
}

/** `before`, `after`: a character of base64 may stand there that has a part of the secret. */
type Spelling = { readonly text: string; readonly before?: boolean; readonly after?: boolean };

function sourceOf({ text, before, after }: Spelling): string {
  const first = before === true ? '[\\w+/-]?' : '';
  return `${first}${quoted(text)}${after === true ? '(?:[\\w+/-]={0,2})?' : ''}`;
}

/**
 * The secret inside a longer text in base64 or base64url. Where it begins is one of three places in a
 * group of three bytes; characters that it shares with its neighbours are hidden along with it.
 */
function inBase64(secret: string): readonly Spelling[] {
  const bytes = Buffer.from(secret, 'utf8');
  return [0, 1, 2].flatMap((offset): Spelling[] => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const shared = offset === 0 ? 0 : offset + 1;
    const whole = Math.floor((padded.length * 8) / 6);
    const inner = padded.toString('base64').slice(shared, whole);
    const around = { before: shared > 0, after: (padded.length * 8) % 6 !== 0 };
    const texts = [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
    return texts.map((text) => ({ text, ...around }));
  });
}

function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** A lone surrogate cannot be percent-encoded; then there is no such spelling to look for. */
function percentEncoded(secret: string): string {
  try {
    return encodeURIComponent(secret);
  } catch {
    return secret;
  }
}
