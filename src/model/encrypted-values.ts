import { encryptedText, isEncrypted, isOlderFormat } from './encrypted.js';
import { isNamedSecret, namedProblem, readNamedSecret, type NamedSecret } from './named-secret.js';
import { isSensitive, readSensitive, sensitiveNamesIn, sensitiveProblem } from './sensitive.js';
import type { Problem } from './problems.js';
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
  return mapWhere(root, encryptedAt, visit);
}

/** A copy with every value replaced for which `textAt` has a text. */
function mapWhere(
  root: unknown,
  textAt: (value: unknown, place: Place) => string | undefined,
  visit: (text: string, keys: Keys) => unknown,
): unknown {
  const walk = (value: unknown, keys: Keys, place: Place): unknown => {
    const text = textAt(value, place);
    if (text !== undefined) return visit(text, keys);
    if (Array.isArray(value)) return value.map((item, i) => walk(item, [...keys, i], place));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(
      ([key, item]) => [key, walk(item, [...keys, key], placeOf(key, place))] as const,
    );
    return Object.fromEntries(entries);
  };
  return walk(root, [], nowhere);
}

/** The key of a value, and the key of the object around it; the items of a list are where the list is. */
type Place = { readonly key: string; readonly around: string };

const nowhere: Place = { key: '', around: '' };

function placeOf(key: string | number, place: Place): Place {
  return typeof key === 'number' ? place : { key, around: place.key };
}

/** The encrypted text that a value is where it stands; undefined: it is none. */
function encryptedAt(value: unknown, place: Place): string | undefined {
  const text = encryptedText(value);
  if (text === undefined || typeof value === 'object' || isEncrypted(text)) return text;
  if (!isOlderFormat(text)) return undefined;
  return isCredentialsName(place.around) || isSecretName(place.key) ? text : undefined;
}

/**
 * The same, and the names of secrets and of sensitive values (`{"$secret": "name"}`, `{"$sensitive": "name"}`), and
 * templates that read sensitive values (`{{$sensitive.name}}`).
 */
function secretAt(value: unknown, place: Place): string | undefined {
  if (isSensitive(value)) return readSensitive(value);
  if (sensitiveNamesIn(value) !== undefined) return String(value);
  return isNamedSecret(value) ? namedAt(value) : encryptedAt(value, place);
}

function namedAt(value: unknown): string | undefined {
  return readNamedSecret(value) === undefined
    ? undefined
    : (value as { readonly $secret: string }).$secret;
}

/** The encrypted values of a document, by field (see `fieldOf`). */
export function encryptedIn(root: unknown): ReadonlyMap<string, string> {
  return textsIn(root, false);
}

/**
 * The encrypted values, references, names of secrets and of sensitive values, and templates that read these, in
 * parameters, by field. All are secrets to a job.
 */
export function secretsIn(root: unknown): ReadonlyMap<string, string> {
  return textsIn(root, true);
}

function textsIn(root: unknown, withReferences: boolean): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  // Most parameters are absent or empty.
  if (typeof root === 'object' ? Object.keys(root ?? {}).length === 0 : root === undefined) {
    return found;
  }
  const keys: (string | number)[] = [];
  const isFound = (value: unknown): boolean => withReferences && isReference(value);
  const textAt = withReferences ? secretAt : encryptedAt;
  const walk = (value: unknown, place: Place): void => {
    const text = isFound(value) ? String(value) : textAt(value, place);
    if (text !== undefined) found.set(fieldOf(keys), text);
    if (typeof value !== 'object' || value === null) return;
    // What is in `{"$enc": text}` is no further value, unless it is a reference.
    if (text !== undefined && !isFound(text)) return;
    eachIn(value, keys, (item, key) => walk(item, placeOf(key, place)));
  };
  walk(root, nowhere);
  return found;
}

/** Visits what is right below; `keys` lead to it meanwhile. */
function eachIn(
  value: object,
  keys: (string | number)[],
  visit: (item: unknown, key: string | number) => void,
): void {
  const isList = Array.isArray(value);
  for (const name of Object.keys(value)) {
    const key = isList ? Number(name) : name;
    keys.push(key);
    visit((value as Doc)[name], key);
    keys.pop();
  }
}

/**
 * A task or flow as engines know it: with references where its document holds encrypted values or names
 * secrets or sensitive values, so that no job ever carries these. A template that reads sensitive values is one in
 * parameters only.
 */
export function withReferences<T extends Doc>(kind: 'task' | 'flow', doc: T): T {
  const owner = ownerOf(doc);
  const name = String(doc['name']);
  const replaced = mapWhere(doc, secretAt, (text, keys) =>
    keys[0] !== 'params' && sensitiveNamesIn(text) !== undefined
      ? text
      : referenceText({ kind, owner, name, field: fieldOf(keys) }),
  );
  return replaced as T;
}

/** The secrets that a task or flow names, by the field where it does. */
export function namedSecretsIn(doc: Doc): ReadonlyMap<string, NamedSecret> {
  const found = new Map<string, NamedSecret>();
  mapWhere(doc, namedAt, (text, keys) => {
    const named = readNamedSecret({ $secret: text });
    if (named !== undefined) found.set(fieldOf(keys), named);
  });
  return found;
}

/**
 * The sensitive values that a definition names, by the field where it does; a template may read several, and "" is a
 * tag of it that names none.
 */
export function sensitiveIn(doc: Doc): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const at = (value: unknown): string | undefined =>
    sensitiveNamesIn(value) === undefined ? readSensitive(value) : String(value);
  mapWhere(doc, at, (text, keys) => {
    const inTemplate = sensitiveNamesIn(text);
    if (inTemplate === undefined) return void found.set(fieldOf(keys), [text]);
    // Anywhere else it is a text like any other.
    if (keys.includes('params')) found.set(fieldOf(keys), inTemplate);
  });
  return found;
}

/** References that somebody wrote into a definition by hand, which only engines may, and what cannot be read as a name of a secret. */
export function handWritten(doc: Doc): readonly Problem[] {
  const found: Problem[] = [];
  const walk = (value: unknown, path: string): void => {
    if (isReference(value)) {
      const message = `${path} must not be a reference to a secret ("tws:secret:…"), which only engines write; put the encrypted value there.`;
      found.push({ path, message });
    }
    const wrong = namedProblem(value, path) ?? sensitiveProblem(value, path);
    if (wrong !== undefined) found.push(wrong);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      walk(item, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`);
    }
  };
  walk(doc, '');
  return found;
}
