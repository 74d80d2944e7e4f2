import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonical } from '../../model/canonical.js';
import type { StoredDocument } from '../../model/document.js';
import type { Connection } from '../../store/connection.js';
import type { DocumentCopy } from '../../store/copies.js';
import { createMissingDatabase } from '../../store/database.js';
import { isSameDatabase } from '../../store/same-database.js';
import { openStore, type Store } from '../../store/store.js';
import {
  archivedFactsSchema,
  type Archive,
  type ArchiveEntry,
  type ArchivedFamily,
} from './archive.js';
import { telling } from './batches.js';

/** What the ids of the documents begin with that say which documents belong together. */
const prefix = 'archived:';

const entrySchema = z.looseObject({
  type: z.literal('archived'),
  at: z.number(),
  facts: archivedFactsSchema,
  copies: z.array(z.looseObject({ id: z.string(), rev: z.string(), sha256: z.string() })),
});
type Entry = z.infer<typeof entrySchema>;

/**
 * Another database than that of the jobs, made when the first job is stored. Documents keep their ids and
 * revisions, as after a replication; one more document for each family says what belongs to it.
 */
export function databaseArchive(connection: Connection, jobs: Connection, name: string): Archive {
  const store = openStore(connection);
  let made: Promise<void> | undefined;
  return {
    name,
    store: (families, at) =>
      telling(name, async () => {
        made ??= prepare(connection, jobs);
        await made.catch((error: unknown) => {
          made = undefined;
          throw error;
        });
        for (const family of families) await storeFamily(store, family, at);
      }),
    async *entries(job) {
      const docs = store.rangePages(job === undefined ? prefix : prefixOf(job));
      for await (const doc of tellingEach(name, docs)) {
        const { success, data } = entrySchema.safeParse(doc);
        if (success && (job ?? data.facts.job) === data.facts.job) yield entryOf(store, data, name);
      }
    },
    close: store.close,
  };
}

/**
 * Makes the database unless it is there. That of the jobs under another address would take each copy for stored,
 * and then the job would be removed from it.
 */
async function prepare(connection: Connection, jobs: Connection): Promise<void> {
  await createMissingDatabase(connection);
  if (await isSameDatabase(jobs, connection)) throw new Error('it is the database of the jobs');
}

/** Documents of a database; of one in which nothing was stored yet, and that is not there, none. */
async function* tellingEach(
  name: string,
  docs: AsyncIterable<StoredDocument>,
): AsyncGenerator<StoredDocument, void, undefined> {
  const each = docs[Symbol.asyncIterator]();
  const next = async () => {
    try {
      return await each.next();
    } catch (error) {
      if ((error as { code?: unknown }).code === 'database_missing') return { done: true } as const;
      throw error;
    }
  };
  for (;;) {
    const one = await telling(name, next);
    if (one.done === true) return;
    yield one.value;
  }
}

/** What the ids of the entries of a job begin with. */
function prefixOf(job: string): string {
  return `${prefix}${createHash('sha256').update(job).digest('hex')}:`;
}

async function storeFamily(
  store: Store,
  { facts, documents }: ArchivedFamily,
  at: number,
): Promise<void> {
  const [refused] = await store.putCopies(documents);
  if (refused !== undefined) throw new Error(`document ${refused.id}: ${refused.reason}`);
  const copies = documents.map((doc) => ({ id: doc._id, rev: doc._rev, sha256: checksumOf(doc) }));
  for (const copy of copies) await readOne(store, copy);
  const hash = createHash('sha256').update(canonical([facts, copies]));
  const _id = `${prefixOf(facts.job)}${hash.digest('hex')}`;
  const written = await store.write({ _id, type: 'archived', at, facts, copies });
  // A conflict: exactly this family is archived already.
  if (written.kind !== 'written' && (await store.get(_id)) === undefined) {
    const why = 'reason' in written ? written.reason : 'cause' in written ? written.cause : '';
    throw new Error(`document ${_id}: ${why}`);
  }
}

function entryOf(store: Store, { facts, at, copies }: Entry, name: string): ArchiveEntry {
  const read = async (): Promise<readonly DocumentCopy[]> => {
    const docs: DocumentCopy[] = [];
    for (const copy of copies) docs.push(await readOne(store, copy));
    return docs;
  };
  return { facts, at, read: () => telling(name, read) };
}

async function readOne(store: Store, { id, rev, sha256 }: Entry['copies'][number]) {
  const doc = await store.copy(id, rev);
  if (doc === undefined) throw new Error(`document ${id} is not there`);
  if (checksumOf(doc) !== sha256) throw new Error(`document ${id} is not what was written`);
  return doc;
}

/** Of the history each database keeps as much as it is told to. */
function checksumOf({ _revisions, _attachments: files, ...doc }: DocumentCopy): string {
  const attachments = Object.entries(
    (files ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  );
  const bodies = attachments.map(([name, { content_type, data }]) => [name, content_type, data]);
  return createHash('sha256')
    .update(canonical([doc, bodies.sort()]))
    .digest('hex');
}
