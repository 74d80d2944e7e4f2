import { TwsError } from '../errors.js';
import { encryptedText, isEncrypted } from '../model/encrypted.js';
import { decrypt } from './encryption.js';
import { isOlderFormat, type OlderFormat } from './older-format.js';
import { below, isCredentialsName, isSecretName } from './secret-names.js';

type Json = Record<string, unknown>;

/** Parameters in clear for the plugin, and the texts that nothing may show from now on. */
export type Decrypted = { readonly params: Json; readonly clear: readonly string[] };

/**
 * A copy of a step's `params` with every encrypted value in clear: texts and `{"$enc": text}`
 * anywhere. Where a secret is expected (under a name such as `pass`, or directly inside `auth` or
 * `credentials`) a text of the older format is read as `older` says. `document` names the document in
 * the sentences of the problems of `decrypt`, which this throws.
 */
export function decryptDeep(
  params: Readonly<Json>,
  key: string | undefined,
  document = 'the step',
  older?: OlderFormat,
): Decrypted {
  const clear: string[] = [];
  const copy = mapEncrypted(params, (text, path) => {
    const value = decrypt(text, key, `params.${path} of ${document}`, older);
    clear.push(value);
    return value;
  });
  return { params: copy as Json, clear };
}

/** An encrypted value that cannot be read with what is given. */
export type Unreadable = { readonly path: string; readonly problem: TwsError };

/** Every encrypted value of a document that cannot be read, and why. */
export function unreadableIn(
  document: Readonly<Json>,
  key: string | undefined,
  older?: OlderFormat,
): readonly Unreadable[] {
  const unreadable: Unreadable[] = [];
  mapEncrypted(document, (text, path) => {
    try {
      decrypt(text, key, path, older);
    } catch (error) {
      if (!(error instanceof TwsError)) throw error;
      unreadable.push({ path, problem: error });
    }
    return text;
  });
  return unreadable;
}

/** The paths (`params.smtp.auth.pass`) of all encrypted values in a document. */
export function findEncrypted(document: Readonly<Json>): readonly string[] {
  const paths: string[] = [];
  mapEncrypted(document, (text, path) => {
    paths.push(path);
    return text;
  });
  return paths;
}

/**
 * The paths of texts that should be encrypted and are not: those under a name that stands for a
 * secret, wherever they are. Templates and empty texts are not secrets, nor are the paths and
 * expressions of `stdio`, `output` and `schema`.
 */
export function findClearSecrets(document: Readonly<Json>): readonly string[] {
  return Object.entries(document).flatMap(([key, value]) =>
    key === 'output' || key === 'schema' ? [] : clearSecrets(value, { path: key, key }),
  );
}

type Place = { readonly path: string; readonly key: string; readonly credentials: boolean };
type Visit = (text: string, path: string) => unknown;

function mapEncrypted(root: Readonly<Json>, visit: Visit): unknown {
  const walk = (value: unknown, place: Place): unknown => {
    const text = encryptedText(value);
    if (text !== undefined && (isEncrypted(text) || typeof value === 'object')) {
      return visit(text, place.path);
    }
    if (text !== undefined) {
      const expected = place.credentials || isSecretName(place.key);
      return expected && isOlderFormat(text) ? visit(text, place.path) : value;
    }
    if (Array.isArray(value)) {
      return value.map((item, index) => walk(item, { ...place, path: below(place.path, index) }));
    }
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, item]) => {
      const credentials = isCredentialsName(place.key);
      return [key, walk(item, { path: below(place.path, key), key, credentials })] as const;
    });
    return Object.fromEntries(entries);
  };
  return walk(root, { path: '', key: '', credentials: false });
}

function clearSecrets(
  value: unknown,
  { path, key }: Omit<Place, 'credentials'>,
): readonly string[] {
  if (typeof value === 'string') return isSecretName(key) && isClear(value) ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => clearSecrets(item, { path: below(path, index), key }));
  }
  return Object.entries(value).flatMap(([name, item]) =>
    // A mapping holds paths in the parameters, not their values.
    name === 'stdio' ? [] : clearSecrets(item, { path: below(path, name), key: name }),
  );
}

function isClear(text: string): boolean {
  return text !== '' && !isEncrypted(text) && !isOlderFormat(text) && !/\{\{|\[\[/.test(text);
}
