import { problem } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { isUnreadableValue, type SecretPlace } from '../secrets/keyring.js';
import { newSubjectKey } from '../secrets/subject-keys.js';
import { mostTries, stored, subjectPrefix, type VaultParts } from './parts.js';

/** How far a change of the main key came. */
export type Rotated = {
  readonly changed: number;
  readonly failed: readonly { readonly id: string; readonly message: string }[];
};

/** The id of the key of which the references are made. */
const referencesId = 'references';

/** The key of which the references are made. */
export const referencesKey = (parts: VaultParts): Promise<Buffer> =>
  keyMade(parts, placeOfKey('', referencesId));

/** Where the key of a subject is, and what it is bound to. */
export function placeOfKey(owner: string, id: string): SecretPlace {
  return { kind: 'subject-key', owner, name: id, field: 'key' };
}

/** The key of a subject, or that of the references; made where there is none. */
export async function keyMade(parts: VaultParts, place: SecretPlace): Promise<Buffer> {
  for (let tries = 1; tries <= mostTries; tries += 1) {
    const there = await keyThere(parts, place);
    if (there !== undefined) return there;
    const key = await parts.keyring.encrypt(newSubjectKey().toString('base64'), place);
    const doc = { _id: place.name, type: 'subject-key', owner: place.owner, key };
    await stored(parts.keys, doc);
  }
  throw problem('document_conflict', { id: place.name });
}

/** The key, if there is one. @throws TwsError of values that cannot be decrypted */
export async function keyThere(
  { keys, keyring }: VaultParts,
  place: SecretPlace,
): Promise<Buffer | undefined> {
  const doc = await keys.get(place.name);
  if (doc === undefined) return undefined;
  return Buffer.from(await keyring.decrypt(String(doc['key']), place), 'base64');
}

/** Encrypts all keys with the first main key; those that cannot be read are left as they are, and told. */
export async function rotateKeys(parts: VaultParts): Promise<Rotated> {
  const { keys } = parts;
  const docs = [...(await keys.range(referencesId)), ...(await keys.range(subjectPrefix))];
  const failed: { id: string; message: string }[] = [];
  let changed = 0;
  for (const doc of docs) {
    try {
      if (await rotateKey(parts, doc)) changed += 1;
    } catch (error) {
      if (!isUnreadableValue(error)) throw error;
      failed.push({ id: doc._id, message: error.message });
    }
  }
  return { changed, failed };
}

/** Whether it was changed; a key that is purged meanwhile is not. */
async function rotateKey({ keys, keyring }: VaultParts, first: StoredDocument): Promise<boolean> {
  let doc: StoredDocument | undefined = first;
  for (let tries = 1; doc !== undefined; tries += 1) {
    const text = String(doc['key']);
    if (await keyring.isCurrent(text)) return false;
    const place = placeOfKey(String(doc['owner']), doc._id);
    const key = await keyring.encrypt(await keyring.decrypt(text, place), place);
    if (await stored(keys, { ...doc, key })) return true;
    if (tries === mostTries) throw problem('document_conflict', { id: doc._id });
    doc = await keys.get(doc._id);
  }
  return false;
}
