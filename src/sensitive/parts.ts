import { problem } from '../errors.js';
import type { Keyring } from '../secrets/keyring.js';
import type { Store } from '../store/store.js';
import type { NewDocument } from '../store/writer.js';

/** What sensitive values are kept with: the two databases and the main key. */
export type VaultParts = {
  readonly values: Store;
  readonly keys: Store;
  readonly keyring: Keyring;
  /** Epoch ms. */
  readonly now: () => number;
};

/** A subject of an owner; `subject` is its reference. */
export type SubjectOf = { readonly owner: string; readonly subject: string };

/** The prefix of references, and so of the ids of values and keys. */
export const subjectPrefix = 's-';

/** Somebody else may write a document at the same time; after so many conflicts it is given up. */
export const mostTries = 20;

/** Whether it was stored; false: somebody else was first. @throws TwsError `document_refused`, `write_unknown` */
export async function stored(store: Store, doc: NewDocument): Promise<boolean> {
  const result = await store.write(doc);
  switch (result.kind) {
    case 'written':
      return true;
    case 'conflict':
      return false;
    case 'refused':
      throw problem('document_refused', { id: doc._id, reason: result.reason });
    case 'unknown':
      throw problem('write_unknown', { id: doc._id, cause: result.cause });
  }
}
