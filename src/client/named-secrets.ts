import { problem, TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import {
  fieldsOfSecret,
  secretId,
  secretPrefix,
  secretText,
  type NamedSecret,
} from '../model/named-secret.js';
import { isObject } from '../model/object.js';
import { ownerOf } from '../model/task.js';
import type { Store } from '../store/store.js';
import { removeDocument, writeDocument } from './writes.js';

/** What the client does for secrets that have names. Values are encrypted before they come here. */
export type NamedSecrets = {
  /** The documents of secrets, by id; `owners`: of these only. */
  readonly secrets: (owners?: readonly string[]) => Promise<readonly StoredDocument[]>;
  /**
   * Stores a value of a secret, encrypted for its place; `created`: there was no such value.
   * @throws TwsError `document_conflict`, `document_refused`
   */
  readonly setSecret: (
    owner: string,
    named: NamedSecret,
    encrypted: string,
  ) => Promise<{ readonly id: string; readonly created: boolean }>;
  /**
   * Removes a secret, or one value of it; the document goes with its last value.
   * @throws TwsError `secret_absent`, `document_conflict`
   */
  readonly removeSecret: (
    owner: string,
    named: NamedSecret,
  ) => Promise<{ readonly id: string; readonly left: readonly string[] }>;
};

export function namedSecrets(store: Store): NamedSecrets {
  return {
    secrets: async (owners) => {
      const docs = await store.range(secretPrefix);
      return docs.filter(
        (doc) =>
          doc['type'] === 'secret' && (owners === undefined || owners.includes(ownerOf(doc))),
      );
    },
    setSecret: (owner, named, encrypted) =>
      again(async () => {
        const id = secretId(owner, named.name);
        const stored = await store.get(id);
        const fields = stored === undefined ? [] : fieldsOfSecret(stored);
        const own = { type: 'secret', name: named.name, owner };
        await writeDocument(store, {
          _id: id,
          ...stored,
          ...own,
          ...valuesWith(stored, named, encrypted),
        });
        return { id, created: !fields.includes(named.field ?? '') };
      }),
    removeSecret: (owner, named) =>
      again(async () => {
        const id = secretId(owner, named.name);
        const stored = await store.get(id);
        const fields = stored === undefined ? [] : fieldsOfSecret(stored);
        const { field } = named;
        if (stored === undefined || (field !== undefined && !fields.includes(field))) {
          throw problem('secret_absent', { secret: secretText(named), owner });
        }
        const left = field === undefined ? [] : fields.filter((one) => one !== field);
        if (field === undefined || left.length === 0) {
          await removeDocument(store, id, stored._rev);
          return { id, left: [] };
        }
        const { [field]: _gone, ...values } = stored['values'] as Readonly<Record<string, unknown>>;
        await writeDocument(store, { ...stored, values });
        return { id, left };
      }),
  };
}

function valuesWith(stored: StoredDocument | undefined, { field }: NamedSecret, text: string) {
  if (field === undefined) return { value: text };
  const values = isObject(stored?.['values']) ? stored['values'] : {};
  return { values: { ...values, [field]: text } };
}

/** Somebody else may write the document at the same time; after so many conflicts it is given up. */
const mostTries = 20;

async function again<T>(write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (error) {
      const isConflict = error instanceof TwsError && error.code === 'document_conflict';
      if (!isConflict || tries === mostTries) throw error;
    }
  }
}
