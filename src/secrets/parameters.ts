import { mayHoldTemplate } from '../model/template.js';
import { TwsError } from '../errors.js';
import { isEncrypted, isOlderFormat } from '../model/encrypted.js';
import { encryptedIn } from '../model/encrypted-values.js';
import { isReference } from '../model/secret-reference.js';
import { fieldBelow, isSecretName } from '../model/secret-names.js';
import { ownerOf } from '../model/task.js';
import type { Keyring, SecretPlace } from './keyring.js';
import { hiddenSecret } from './redaction.js';

type Json = Record<string, unknown>;

/** An encrypted value that cannot be read with what is given. */
export type Unreadable = { readonly path: string; readonly problem: TwsError };

/** The place of a field of a task, flow, hook or secret. */
export function placeIn(doc: Readonly<Json>, field: string): SecretPlace {
  const { type } = doc;
  const kind = type === 'flow' || type === 'hook' || type === 'secret' ? type : 'task';
  return { kind, owner: ownerOf(doc), name: String(doc['name']), field };
}

/** Every encrypted value of a task, flow, hook or secret that cannot be read, and why. */
export async function unreadableIn(
  doc: Readonly<Json>,
  keyring: Keyring,
): Promise<readonly Unreadable[]> {
  const unreadable: Unreadable[] = [];
  for (const [field, text] of encryptedIn(doc)) {
    try {
      await keyring.decrypt(text, placeIn(doc, field));
    } catch (error) {
      if (!(error instanceof TwsError)) throw error;
      unreadable.push({ path: field, problem: error });
    }
  }
  return unreadable;
}

/**
 * The paths of texts that should be encrypted and are not: those under a name that stands for a
 * secret, wherever they are. Templates and empty texts are not secrets, nor are the paths and
 * expressions of `stdio`, `output` and `schema`. What redaction has put into a job is none; in a definition it is.
 */
export function findClearSecrets(document: Readonly<Json>): readonly string[] {
  const isShown =
    document['type'] === 'job'
      ? (text: string) => isClear(text) && !text.includes(hiddenSecret)
      : isClear;
  return Object.entries(document).flatMap(([key, value]) =>
    key === 'output' || key === 'schema' ? [] : clearSecrets(value, { path: key, key, isShown }),
  );
}

type Place = {
  readonly path: string;
  readonly key: string;
  readonly isShown: (text: string) => boolean;
};

function clearSecrets(value: unknown, place: Place): readonly string[] {
  const { path, key, isShown } = place;
  if (typeof value === 'string') return isSecretName(key) && isShown(value) ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) =>
      clearSecrets(item, { ...place, path: fieldBelow(path, index) }),
    );
  }
  return Object.entries(value).flatMap(([name, item]) =>
    // A mapping holds paths in the parameters, not their values.
    name === 'stdio'
      ? []
      : clearSecrets(item, { ...place, path: fieldBelow(path, name), key: name }),
  );
}

function isClear(text: string): boolean {
  return (
    text !== '' &&
    !isEncrypted(text) &&
    !isOlderFormat(text) &&
    !isReference(text) &&
    !mayHoldTemplate(text)
  );
}
