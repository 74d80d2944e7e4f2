import { openDatabase, type Client } from '../../client.js';
import type { Config } from '../../config/load.js';
import { problem, TwsError } from '../../errors.js';
import { encryptedIn, mapEncrypted } from '../../model/encrypted-values.js';
import type { StoredDocument } from '../../model/document.js';
import { fieldOf } from '../../model/secret-reference.js';
import type { Keyring } from '../../secrets/keyring.js';
import { placeIn } from '../../secrets/parameters.js';
import { counted } from '../../words.js';
import { storedOfKind } from '../schedules-and-hooks.js';
import type { Io } from '../io.js';
import { readDefinition, writeFields } from './in-file.js';

/** `upgrade`: what is not of version 2; `rotate`: also what another key than the first encrypted. */
export type RewriteMode = 'upgrade' | 'rotate';

type Doc = Readonly<Record<string, unknown>>;
type Tally = { readonly changed: string[]; readonly failed: { id: string; message: string }[] };

/** Somebody else may write a document at the same time; after so many conflicts it is given up. */
const mostTries = 20;

/**
 * Writes all encrypted values of stored tasks, flows, hooks and secrets anew. Every write is a compare-and-set on the
 * revision that was read; repeated, it goes on with what is left. Answers the exit status: 3 when a
 * value cannot be read.
 */
export async function rewriteStored(
  wanted: RewriteMode,
  { config, keyring }: { readonly config: Config; readonly keyring: Keyring },
  io: Io,
): Promise<number> {
  const { client, close } = openDatabase(config);
  try {
    const all = [
      ...(await client.definitions('task')),
      ...(await client.definitions('flow')),
      ...(await storedOfKind(client, 'hook')),
      ...(await client.secrets()),
    ];
    return await rewriteDocuments(all, { wanted, keyring, client }, io);
  } finally {
    await close();
  }
}

/** The same for some documents. */
export async function rewriteDocuments(
  docs: readonly StoredDocument[],
  work: Omit<Work, 'tally'>,
  io: Io,
): Promise<number> {
  const holders = docs.filter((doc) => encryptedIn(doc).size > 0);
  const tally: Tally = { changed: [], failed: [] };
  for (const [i, doc] of holders.entries()) {
    if (io.stop.aborted) break;
    const done = `${i + 1} of ${holders.length}`;
    await rewriteDocument(doc, { ...work, tally });
    io.say(`${done}: ${doc._id}`);
  }
  return report(tally, holders.length, io);
}

type Work = {
  readonly wanted: RewriteMode;
  readonly keyring: Keyring;
  readonly client: Client;
  readonly tally: Tally;
};

async function rewriteDocument(
  first: StoredDocument,
  { wanted, keyring, client, tally }: Work,
): Promise<void> {
  const id = first._id;
  let doc: StoredDocument | undefined = first;
  for (let tries = 1; doc !== undefined; tries += 1) {
    try {
      const fields = await renewed(doc, wanted, keyring);
      if (fields.size === 0) return;
      const next = mapEncrypted(doc, (text, keys) => fields.get(fieldOf(keys)) ?? text);
      await client.write(next as StoredDocument);
      tally.changed.push(id);
      return;
    } catch (error) {
      if (!(error instanceof TwsError)) throw error;
      if (error.code !== 'document_conflict' || tries === mostTries) {
        tally.failed.push({ id, message: error.message });
        return;
      }
      doc = await client.get(id);
    }
  }
}

/** The same for files of a project. */
export async function rewriteFiles(
  wanted: RewriteMode,
  files: readonly string[],
  keyring: Keyring,
  io: Io,
): Promise<number> {
  const tally: Tally = { changed: [], failed: [] };
  for (const file of files) {
    const { path, text, doc } = await readDefinition(file, io);
    try {
      const fields = await renewed(doc, wanted, keyring);
      if (fields.size === 0) continue;
      await writeFields(path, text, doc, fields);
      tally.changed.push(file);
    } catch (error) {
      if (!(error instanceof TwsError)) throw error;
      tally.failed.push({ id: file, message: error.message });
    }
  }
  return report(tally, files.length, io);
}

/** The new texts of the values that are not as they should be, by field. @throws TwsError */
async function renewed(
  doc: Doc,
  wanted: RewriteMode,
  keyring: Keyring,
): Promise<ReadonlyMap<string, string>> {
  const fields = new Map<string, string>();
  for (const [field, text] of encryptedIn(doc)) {
    const isGood =
      wanted === 'upgrade' ? text.startsWith('tws:v2:') : await keyring.isCurrent(text);
    if (isGood) continue;
    const place = placeIn(doc, field);
    fields.set(field, await keyring.encrypt(await keyring.decrypt(text, place), place));
  }
  return fields;
}

function report({ changed, failed }: Tally, looked: number, io: Io): number {
  for (const { id, message } of failed) io.fail(`${id}: ${message}`);
  const same = looked - changed.length - failed.length;
  io.out(`rewritten: ${counted(changed.length, 'document')}; ${same} as they should be`);
  io.json({ changed, unchanged: same, failed });
  if (failed.length > 0) throw problem('secrets_left', { documents: failed.length });
  return 0;
}
