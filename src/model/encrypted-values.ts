import { encryptedText, isEncrypted, isOlderFormat } from './encrypted.js';
import type { Problem } from './job.js';
import { isCredentialsName, isSecretName } from './secret-names.js';
import { fieldOf, isReference, referenceText } from './secret-reference.js';
import { ownerOf } from './task.js';

type Keys = readonly (string | number)[];
type Doc = Readonly<Record<string, unknown>>;

/**
 * A copy of a value with every encrypted value in it replaced by what `visit` answers: texts and
 * `{"$enc": text}` anywhere, and texts of the older format where a secret is expected: under a name
 * that stands for one, or directly inside `auth` or `credentials`.
 */
export function mapEncrypted(root: unknown, visit: (text: string, keys: Keys) => unknown): unknown {
  const walk = (value: unknown, keys: Keys, place: Place): unknown => {
    const text = encryptedText(value);
    if (text !== undefined && (isEncrypted(text) || typeof value === 'object')) {
      return visit(text, keys);
    }
    if (text !== undefined) {
      const expected = place.credentials || isSecretName(place.key);
      return expected && isOlderFormat(text) ? visit(text, keys) : value;
    }
    if (Array.isArray(value)) return value.map((item, i) => walk(item, [...keys, i], place));
    if (typeof value !== 'object' || value === null) return value;
    const credentials = isCredentialsName(place.key);
    const entries = Object.entries(value).map(
      ([key, item]) => [key, walk(item, [...keys, key], { key, credentials })] as const,
    );
    return Object.fromEntries(entries);
  };
  return walk(root, [], { key: '', credentials: false });
}

type Place = { readonly key: string; readonly credentials: boolean };

/** The encrypted values of a document, by field (see `fieldOf`). */
export function encryptedIn(root: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  mapEncrypted(root, (text, keys) => {
    found.set(fieldOf(keys), text);
    return text;
  });
  return found;
}

/** The encrypted values and references of parameters, by field. Both are secrets to a job. */
export function secretsIn(root: unknown): ReadonlyMap<string, string> {
  const found = new Map(encryptedIn(root));
  const walk = (value: unknown, keys: Keys): void => {
    if (isReference(value)) found.set(fieldOf(keys), String(value));
    if (typeof value !== 'object' || value === null) return;
    const isList = Array.isArray(value);
    for (const [key, item] of Object.entries(value))
      walk(item, [...keys, isList ? Number(key) : key]);
  };
  walk(root, []);
  return found;
}

/**
 * A task or flow as engines know it: with references where its document holds encrypted values, so
 * that no job ever carries these.
 */
export function withReferences<T extends Doc>(kind: 'task' | 'flow', doc: T): T {
  const owner = ownerOf(doc);
  const name = String(doc['name']);
  const replaced = mapEncrypted(doc, (_text, keys) =>
    referenceText({ kind, owner, name, field: fieldOf(keys) }),
  );
  return replaced as T;
}

/** References that somebody wrote into a definition by hand: only engines may. */
export function handWritten(doc: Doc): readonly Problem[] {
  const found: Problem[] = [];
  const walk = (value: unknown, path: string): void => {
    if (isReference(value)) {
      const message = `${path} must not be a reference to a secret ("tws:secret:…"), which only engines write; put the encrypted value there.`;
      found.push({ path, message });
    }
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      walk(item, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`);
    }
  };
  walk(doc, '');
  return found;
}
