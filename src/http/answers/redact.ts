import { isObject } from '../../model/object.js';
import { isEncrypted, isOlderFormat } from '../../model/encrypted.js';
import { isReference } from '../../model/secret-reference.js';
import { isCredentialsName, isSecretName } from '../../model/secret-names.js';

/** What stands in an answer for a secret in clear. */
export const hidden = '[secret]';

/** Deeper values are not shown: nothing sensible is, and what walks them is not to fall. */
const deepest = 500;

/** Who may see encrypted values: only an admin of their owner, and only in a definition. */
type Shown = { readonly encrypted: boolean };

/**
 * A copy of a value without secrets: texts and numbers under a name that stands for a secret (also in
 * lists), passwords in URLs and, unless `shown` says otherwise, encrypted values anywhere, also inside
 * other texts. References to secrets, and templates that only name a value, stay.
 */
export function withoutSecrets<T>(value: T, { encrypted }: Shown = { encrypted: false }): T {
  return copy(value, { secret: false, encrypted, depth: 0 }) as T;
}

/** As `withoutSecrets`, of a value of a document: the names on the way to it count. */
export function withoutSecretsAt(
  value: unknown,
  keys: readonly (string | number)[],
  shown: Shown = { encrypted: true },
): unknown {
  const whole = keys.reduceRight<unknown>(
    (inner, key) => (typeof key === 'number' ? [inner] : { [key]: inner }),
    value,
  );
  return keys.reduce<unknown>(
    (at, key) => {
      const below = at as Readonly<Record<string | number, unknown>>;
      return below[typeof key === 'number' ? 0 : key];
    },
    withoutSecrets(whole, shown),
  );
}

type Place = Shown & { readonly secret: boolean; readonly depth: number };

function copy(value: unknown, { secret, encrypted, depth }: Place): unknown {
  if (typeof value === 'string') return copyText(value, { secret, encrypted });
  if (typeof value === 'number' || typeof value === 'bigint') return secret ? hidden : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= deepest) return '[too deep]';
  const below = { secret, encrypted, depth: depth + 1 };
  if (Array.isArray(value)) return value.map((item) => copy(item, below));
  if (isEncrypted(value)) return encrypted ? value : hidden;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      // An object under such a name has names of its own; of a list it is the items that count.
      const named = isSecretName(key) && !isObject(item);
      const expected = isCredentialsName(key) && isObject(item) && !encrypted;
      const kept: unknown = expected ? withoutOlder(item) : item;
      return [key, copy(kept, { ...below, secret: named })];
    }),
  );
}

function copyText(text: string, { secret, encrypted }: Omit<Place, 'depth'>): string {
  if (encrypted) return secret && !isHarmless(text) ? hidden : plain(text);
  return secret && !isPublic(text) ? hidden : withoutEncrypted(plain(text));
}

/** `auth` and `credentials` hold values of the older format under any name. */
function withoutOlder(credentials: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(credentials).map(([key, value]) => [
      key,
      typeof value === 'string' && isOlderFormat(value) ? hidden : value,
    ]),
  );
}

/** Templates and messages may quote them. */
const anyEncrypted = /\btws:v\d+:[\w:.-]+/g;

function withoutEncrypted(text: string): string {
  return text.includes('tws:v') ? text.replace(anyEncrypted, hidden) : text;
}

function isHarmless(text: string): boolean {
  return isEncrypted(text) || isOlderFormat(text) || isPublic(text);
}

function isPublic(text: string): boolean {
  if (text === '' || isReference(text)) return true;
  return /^(?:\{\{\{?[^{}]*\}?\}\}|\[\[[^[\]]*\]\])$/.test(text);
}

/** Name and password in a URL; of bounded length, so that no text takes long. */
const inUrl = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@:]{0,200}:[^\s/?#@]{0,500}@/gi;

function plain(text: string): string {
  return text.includes('@') ? text.replace(inUrl, `$1${hidden}@`) : text;
}

/**
 * Puts back what `withoutSecrets` took out: whoever edits what he was shown does not know the secrets
 * in it. Answers the document, and the paths where nothing is known to stand for `[secret]`.
 */
export function withSecretsOf(
  shown: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, unknown>> | undefined,
): { readonly doc: Record<string, unknown>; readonly lost: readonly string[] } {
  const lost: string[] = [];
  const all: Shown = { encrypted: true };
  const fill = (value: unknown, before: unknown, path: string): unknown => {
    if (typeof value === 'string') {
      if (value !== hidden && !value.includes(`://${hidden}@`)) return value;
      if (withoutSecrets({ password: before }, all).password === value) return before;
      if (typeof before === 'string' && withoutSecrets(before, all) === value) return before;
      lost.push(path);
      return value;
    }
    if (Array.isArray(value)) {
      const list: readonly unknown[] = Array.isArray(before) ? before : [];
      return value.map((item, i) => fill(item, list[i], `${path}[${i}]`));
    }
    if (!isObject(value)) return value;
    const known = isObject(before) ? before : {};
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const at = path === '' ? key : `${path}.${key}`;
        return [key, fill(item, Object.hasOwn(known, key) ? known[key] : undefined, at)];
      }),
    );
  };
  return { doc: fill(shown, stored, '') as Record<string, unknown>, lost };
}
