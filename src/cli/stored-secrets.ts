import type { Client } from '../client.js';
import type { Config } from '../config/load.js';
import { problem, type TwsError } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { encryptedIn } from '../model/encrypted-values.js';
import { createKeyring } from '../secrets/keyring.js';
import { unreadableIn, type Unreadable } from '../secrets/parameters.js';
import { listed } from '../words.js';

/** What of the encrypted values that are stored can be read with the key of these settings. */
export type StoredSecrets = {
  /** Documents that hold encrypted values. */
  readonly holders: readonly StoredDocument[];
  readonly unreadable: readonly (Unreadable & { readonly doc: StoredDocument })[];
};

type Keys = Pick<Config, 'cryptoKey' | 'olderSecrets'>;

/** Values of version 1 cost a derivation each: after so long the rest is believed, ms. */
const longestMs = 3_000;

/** Tries to decrypt what tasks, flows and secrets hold. @throws TwsError of the store */
export async function lookAtSecrets(client: Client, keys: Keys): Promise<StoredSecrets> {
  const [tasks, flows] = [await client.definitions('task'), await client.definitions('flow')];
  return secretsInDocuments([...tasks, ...flows, ...(await client.secrets())], keys);
}

/** The same for documents that were read already. */
export async function secretsInDocuments(
  documents: readonly StoredDocument[],
  { cryptoKey, olderSecrets }: Keys,
): Promise<StoredSecrets> {
  const keyring = createKeyring(cryptoKey, olderSecrets);
  const holders = documents.filter((doc) => encryptedIn(doc).size > 0);
  const until = performance.now() + longestMs;
  const unreadable: StoredSecrets['unreadable'][number][] = [];
  for (const doc of holders) {
    if (performance.now() > until) break;
    for (const found of await unreadableIn(doc, keyring)) unreadable.push({ doc, ...found });
  }
  return { holders, unreadable };
}

/** The first thing that is wrong with them, with all documents that it is wrong with. */
export function secretsProblem({ unreadable }: StoredSecrets): TwsError | undefined {
  const [first] = unreadable;
  if (first === undefined) return undefined;
  const { code } = first.problem;
  const same = unreadable.filter((one) => one.problem.code === code);
  const ids = [...new Set(same.map(({ doc }) => doc._id))];
  const paths = same.filter(({ doc }) => doc === first.doc).map(({ path }) => path);
  const documents = ids.length === 1 ? `${first.doc._id} (${listed(paths)})` : listed(ids);
  if (code === 'crypto_key_missing') return problem('stored_without_key', { documents });
  if (code === 'secret_older') return problem('stored_older', { documents });
  return problem('stored_with_other_key', { documents });
}

/** Whether a task or a flow needs a key and there is none: an engine would fail all their jobs. */
export function lacksKey({ unreadable }: StoredSecrets): boolean {
  return unreadable.some((one) => one.problem.code === 'crypto_key_missing');
}
