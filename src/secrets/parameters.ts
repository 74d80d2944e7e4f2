import { decrypt, encryptedText, isEncrypted } from './encryption.js';
import { isOlderFormat } from './older-format.js';
import { below, isCredentialsName, isSecretName } from './secret-names.js';

type Json = Record<string, unknown>;

/** Parameters in clear for the plugin, and the texts that nothing may show from now on. */
export type Decrypted = { readonly params: Json; readonly clear: readonly string[] };

/**
 * A copy of `params` with every encrypted value in clear: texts and `{"$enc": text}` anywhere. Where
 * a secret is expected (under a name such as `pass`, or directly inside `auth` or `credentials`) a
 * text of the older format is refused. `document` names the document in the sentences of
 * `crypto_key_missing`, `secret_unreadable` and `secret_older`, which this throws.
 */
export function decryptDeep(
  params: Readonly<Json>,
  key: string | undefined,
  document = 'the step',
): Decrypted {
  const clear: string[] = [];
  const copy = mapEncrypted(params, (text, path) => {
    const value = decrypt(text, key, `${path} of ${document}`);
    clear.push(value);
    return value;
  });
  return { params: copy as Json, clear };
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
 * The paths of texts that should be encrypted and are not: values named like a secret inside an
 * `auth` or `credentials` object. Templates and empty texts are not secrets.
 */
export function findClearSecrets(document: Readonly<Json>): readonly string[] {
  return clearSecrets(document, { path: '', key: '', credentials: false });
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

function clearSecrets(value: unknown, place: Place): readonly string[] {
  if (typeof value === 'string') {
    return place.credentials && isSecretName(place.key) && isClear(value) ? [place.path] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) =>
      clearSecrets(item, { ...place, path: below(place.path, index) }),
    );
  }
  const credentials = place.credentials || isCredentialsName(place.key);
  return Object.entries(value).flatMap(([key, item]) =>
    clearSecrets(item, { path: below(place.path, key), key, credentials }),
  );
}

function isClear(text: string): boolean {
  return text !== '' && !isEncrypted(text) && !isOlderFormat(text) && !/\{\{|\[\[/.test(text);
}
