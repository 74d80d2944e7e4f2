import { Readable } from 'node:stream';

import type { BodyCache } from './body-cache.js';
import { LAST } from './level.js';
import type { Pouch, PouchError, PouchMetadata, RevTree } from './pouch.js';
import type { Session } from './session.js';
import { latestOf, leafRevisions } from './rev-tree.js';
import {
  Absent,
  type Attachment,
  type FeedChange,
  type Doc,
  type DocRow,
  type OpenRev,
  type Parent,
  type RangeOptions,
  type ReadOptions,
  type DocumentStore,
} from './storage.js';
import { asError } from './write-queue.js';

type Reads = Pick<
  DocumentStore,
  'get' | 'openRevs' | 'parents' | 'range' | 'rows' | 'changes' | 'revsDiff' | 'attachment'
>;

/** The reading half of a store on PouchDB; each answer shows one state. */
export function readers({ read, pouch }: Session, bodies: BodyCache): Reads {
  return {
    get: (id, options = {}) => read(() => get(pouch(), id, options)),
    openRevs: (id, revs, options) =>
      read(() => onlyLeaf(bodies, id, revs, options) ?? openRevs(pouch(), id, revs, options)),
    parents: (docs) => read(() => Promise.all(docs.map((doc) => parentOf(pouch(), bodies, doc)))),
    range: (options) => read(() => range(pouch(), options)),
    rows: (keys, options) => read(() => Promise.all(keys.map((key) => row(pouch(), key, options)))),
    changes: (options) => read(() => changes(pouch(), options)),
    revsDiff: (wanted) => read(() => pouch().revsDiff(wanted)),
    attachment: (id, name, rev) => read(() => attachment(pouch(), id, name, rev)),
  };
}

const absent = (error: PouchError): Absent => {
  if (error.status !== 404) throw asError(error);
  return new Absent(error.reason === 'deleted' ? 'deleted' : 'missing');
};

async function get(pouch: Pouch, id: string, options: ReadOptions): Promise<Doc | Absent> {
  const rev = options.latest === true ? await latestLeaf(pouch, id, options.rev) : options.rev;
  const doc = await pouch
    .get(id, {
      ...(rev === undefined ? {} : { rev }),
      revs: options.revs ?? false,
      revs_info: options.revsInfo ?? false,
      conflicts: options.conflicts ?? false,
      attachments: options.attachments ?? false,
    })
    .catch(absent);
  if (doc instanceof Absent) return doc;
  if (!options.deletedConflicts && !options.localSeq) return inOrder(doc);
  const metadata = await metadataOf(pouch, id, doc._rev);
  const deleted = leafRevisions(metadata.rev_tree).filter(
    (leaf) => leaf.deleted && leaf.rev !== metadata.winningRev,
  );
  return {
    ...inOrder(doc),
    ...(options.localSeq ? { _local_seq: metadata.seq } : {}),
    ...(options.deletedConflicts && deleted.length > 0
      ? { _deleted_conflicts: deleted.map((leaf) => leaf.rev) }
      : {}),
  };
}

/** `_id` and `_rev` first, as CouchDB shows documents; PouchDB keeps them last. */
function inOrder({ _id, _rev, ...body }: Doc): Doc {
  return _rev === undefined ? { _id, ...body } : { _id, _rev, ...body };
}

const metadataOf = (pouch: Pouch, id: string, rev: string | undefined): Promise<PouchMetadata> =>
  new Promise((resolve, reject) => {
    pouch._get(id, rev === undefined ? {} : { rev }, (error, found) => {
      if (error) reject(asError(error));
      else resolve(found.metadata);
    });
  });

const treeOf = (pouch: Pouch, id: string): Promise<RevTree> =>
  new Promise((resolve, reject) => {
    pouch._getRevisionTree(id, (error, tree) => {
      if (error === null) resolve(tree);
      else if (error.status === 404) resolve([]);
      else reject(asError(error));
    });
  });

/** PouchDB's own `latest` throws outside any promise for a revision it does not know. */
async function latestLeaf(
  pouch: Pouch,
  id: string,
  rev: string | undefined,
): Promise<string | undefined> {
  if (rev === undefined) return undefined;
  return latestOf(await treeOf(pouch, id), rev)[0] ?? rev;
}

/** The leaves of a document that was written lately and is not in conflict. */
function onlyLeaf(
  bodies: BodyCache,
  id: string,
  revs: 'all' | readonly string[],
  { attachments = false, revs: isWithHistory = false }: ReadOptions,
): Promise<OpenRev[]> | undefined {
  if (revs !== 'all' || attachments || isWithHistory) return undefined;
  const json = bodies.only(id);
  return json === undefined ? undefined : Promise.resolve([{ ok: JSON.parse(json) as Doc }]);
}

async function openRevs(
  pouch: Pouch,
  id: string,
  revs: 'all' | readonly string[],
  options: ReadOptions,
): Promise<OpenRev[]> {
  const tree = await treeOf(pouch, id);
  const wanted =
    revs === 'all'
      ? leafRevisions(tree).map((leaf) => leaf.rev)
      : revs.flatMap((rev) => {
          const latest = options.latest === true ? latestOf(tree, rev) : [];
          return latest.length > 0 ? latest : [rev];
        });
  return Promise.all(
    [...new Set(wanted)].map(async (rev) => {
      const doc = await get(pouch, id, { ...options, latest: false, rev });
      return doc instanceof Absent ? { missing: rev } : { ok: doc };
    }),
  );
}

async function parentOf(pouch: Pouch, bodies: BodyCache, doc: Doc): Promise<Parent> {
  const { _id: id, _rev: rev } = doc;
  const known = rev === undefined ? undefined : bodies.find(id, rev);
  if (known !== undefined) return { kind: 'leaf', json: known };
  const stored = await get(pouch, id, rev === undefined ? {} : { rev });
  if (stored instanceof Absent) return { kind: rev === undefined ? 'none' : 'conflict' };
  if (rev === undefined) return { kind: 'conflict' };
  const json = JSON.stringify(stored);
  if (stored['_attachments'] === undefined) bodies.keep(id, rev, json);
  return { kind: 'leaf', json };
}

async function range(pouch: Pouch, options: RangeOptions): Promise<DocRow[]> {
  const descending = options.descending === true;
  // Without bounds of our own the LevelDB layer leaves out ids that begin beyond U+00FF.
  const { startkey = descending ? LAST : '\u0000', endkey = descending ? '\u0000' : LAST } =
    options;
  const { rows } = await pouch.allDocs({
    startkey,
    endkey,
    descending,
    inclusive_end: options.inclusiveEnd ?? true,
    skip: options.skip ?? 0,
    include_docs: options.includeDocs ?? false,
    conflicts: options.conflicts ?? false,
    attachments: options.attachments ?? false,
    ...(options.limit === undefined ? {} : { limit: options.limit }),
  });
  return rows.map(({ id, value, doc }) => ({
    id,
    rev: value.rev,
    deleted: value.deleted === true,
    ...(doc === undefined ? {} : { doc: doc && inOrder(doc) }),
  }));
}

async function row(pouch: Pouch, id: string, options: RangeOptions): Promise<DocRow | null> {
  const { conflicts = false, attachments = false } = options;
  const doc = await get(pouch, id, { conflicts, attachments });
  if (!(doc instanceof Absent)) {
    const found = { id, rev: doc._rev ?? '', deleted: false };
    return options.includeDocs === true ? { ...found, doc } : found;
  }
  if (doc.why === 'missing') return null;
  const [winner] = leafRevisions(await treeOf(pouch, id)).sort(byWinning);
  return { id, rev: winner?.rev ?? '', deleted: true, doc: null };
}

/** Among deleted leaves the longest history wins, then the higher id. */
const byWinning = (a: { rev: string }, b: { rev: string }): number =>
  Number.parseInt(b.rev, 10) - Number.parseInt(a.rev, 10) || (a.rev < b.rev ? 1 : -1);

async function changes(
  pouch: Pouch,
  { since, limit }: { since: number; limit: number },
): Promise<FeedChange[]> {
  const { results } = await pouch.changes({
    since,
    limit,
    include_docs: true,
    conflicts: true,
    style: 'all_docs',
    return_docs: true,
  });
  return results.map((result) => {
    const { _conflicts, ...doc } = result.doc;
    const winner = result.doc._rev ?? '';
    const others = result.changes.map((leaf) => leaf.rev).filter((rev) => rev !== winner);
    return {
      seq: result.seq,
      id: result.id,
      deleted: result.deleted === true,
      leaves: [winner, ...others],
      conflicts: (_conflicts as string[] | undefined) ?? [],
      doc: inOrder(doc),
    };
  });
}

async function attachment(
  pouch: Pouch,
  id: string,
  name: string,
  rev: string | undefined,
): Promise<Attachment | Absent | undefined> {
  const doc = await get(pouch, id, rev === undefined ? {} : { rev });
  if (doc instanceof Absent) return doc;
  const stubs = (doc['_attachments'] ?? {}) as Record<
    string,
    { content_type?: string; digest: string }
  >;
  const stub = Object.hasOwn(stubs, name) ? stubs[name] : undefined;
  if (stub === undefined) return undefined;
  const body = Buffer.from(await pouch.getAttachment(id, name, { rev: doc._rev }));
  return {
    contentType: stub.content_type ?? 'application/octet-stream',
    digest: stub.digest,
    length: body.length,
    rev: doc._rev ?? '',
    read: (first, last) => Readable.from([body.subarray(first, last + 1)]),
    close: () => undefined,
  };
}
