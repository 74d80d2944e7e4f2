/** Hides secrets in a text, or in every text (keys, too) of a JSON value, which it copies. */
export type Redact = <T>(value: T) => T;

const hidden = '[secret]';
/** Shorter texts are hidden only as a whole: as a part of others they would blot out harmless ones. */
const shortestPart = 4;

/**
 * Makes the function that hides these clear texts, also where they stand percent-encoded or inside
 * JSON. The list is read at each call, so texts may be added to it later.
 */
export function redactor(clear: readonly string[]): Redact {
  const text = (value: string): string => {
    if (clear.includes(value) && value !== '') return hidden;
    return spellings(clear).reduce((left, secret) => left.replaceAll(secret, hidden), value);
  };
  const deep = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(deep);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), deep(item)]));
  };
  return <T>(value: T): T => (clear.length === 0 ? value : (deep(value) as T));
}

/** How each secret may be written, the longest first, so that no rest of one stays readable. */
function spellings(clear: readonly string[]): readonly string[] {
  const all = clear
    .filter((secret) => secret.length >= shortestPart)
    .flatMap((secret) => [secret, percentEncoded(secret), JSON.stringify(secret).slice(1, -1)]);
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}

/** A lone surrogate cannot be percent-encoded; then there is no such spelling to look for. */
function percentEncoded(secret: string): string {
  try {
    return encodeURIComponent(secret);
  } catch {
    return secret;
  }
}
