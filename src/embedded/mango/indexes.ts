import { createHash } from 'node:crypto';

import type { UserContext } from '../auth/users.js';
import type { Database } from '../databases/database.js';
import type { Design, DesignView } from '../databases/design.js';
import { isJsonObject, type JsonObject } from '../http/body.js';
import { CouchError, refuse } from '../http/couch-error.js';
import type { Doc } from '../storage/storage.js';
import { compileSelector } from './selector.js';

/** An index that a Mango query may use: the primary one, or a view of a `query` design document. */
export type MangoIndex = {
  readonly ddoc: string | null;
  readonly name: string;
  readonly fields: readonly string[];
  /** Only documents that meet this are in it. */
  readonly partial: JsonObject | undefined;
  readonly source: { readonly design: Design; readonly view: DesignView } | undefined;
};

const PRIMARY: MangoIndex = {
  ddoc: null,
  name: '_all_docs',
  fields: ['_id'],
  partial: undefined,
  source: undefined,
};

/** All indexes of a database, the primary one first. */
export async function listIndexes({ catalog }: Database): Promise<MangoIndex[]> {
  const designs = (await catalog.all()).filter((design) => design.doc['language'] === 'query');
  return [PRIMARY, ...designs.flatMap(indexesOf)];
}

function indexesOf(design: Design): MangoIndex[] {
  const views = (design.doc['views'] ?? {}) as Record<string, JsonObject>;
  return [...design.views].flatMap(([name, view]) => {
    const map = views[name]?.['map'];
    if (!isJsonObject(map) || !isJsonObject(map['fields'])) return [];
    const { partial_filter_selector: partial } = map;
    return [
      {
        ddoc: design.doc._id,
        name,
        fields: Object.keys(map['fields']),
        partial: isJsonObject(partial) && Object.keys(partial).length > 0 ? partial : undefined,
        source: { design, view },
      },
    ];
  });
}

/** An index as `_index` and `_explain` show it. */
export const describeIndex = ({ ddoc, name, fields, partial }: MangoIndex): object => ({
  ddoc,
  name,
  type: ddoc === null ? 'special' : 'json',
  partitioned: ddoc === null ? undefined : false,
  def: {
    fields: fields.map((field) => ({ [field]: 'asc' })),
    ...(partial === undefined ? {} : { partial_filter_selector: partial }),
  },
});

/** Makes an index as `POST /{db}/_index` describes it; the same again is `exists`. @throws CouchError */
export async function createIndex(
  database: Database,
  request: JsonObject,
  user: UserContext,
): Promise<{ result: 'created' | 'exists'; id: string; name: string }> {
  const { index, type = 'json' } = request;
  if (type !== 'json') throw refuse.notOffered(`An index of type ${JSON.stringify(type)}`);
  if (!isJsonObject(index)) throw badIndex('`index` must be a JSON object');
  const fields = readFields(index['fields']);
  const partial = index['partial_filter_selector'] ?? request['partial_filter_selector'];
  if (partial !== undefined) compileSelector(partial);
  const only = partial === undefined ? {} : { partial_filter_selector: partial };
  const hash = createHash('sha1')
    .update(JSON.stringify([fields, partial]))
    .digest('hex');
  const name = readName(request['name'], 'name') ?? hash;
  const ddoc = (readName(request['ddoc'], 'ddoc') ?? hash).replace(/^_design\//, '');
  const id = `_design/${ddoc}`;

  const known = (await database.catalog.all()).find((design) => design.doc._id === id)?.doc;
  if (known !== undefined && known['language'] !== 'query') {
    throw new CouchError(
      400,
      'invalid_design_doc',
      `${id} is not a design document of Mango indexes.`,
    );
  }
  const view = {
    map: { fields: Object.fromEntries(fields.map((field) => [field, 'asc'])), ...only },
    reduce: '_count',
    options: { def: { fields, ...only } },
  };
  const views = (known?.['views'] ?? {}) as JsonObject;
  if (JSON.stringify(views[name]) === JSON.stringify(view)) return { result: 'exists', id, name };
  const doc: Doc = { ...known, _id: id, language: 'query', views: { ...views, [name]: view } };
  await write(database, doc, user);
  return { result: 'created', id, name };
}

/** Removes an index, and its design document with the last one. @throws CouchError 404 */
export async function removeIndex(
  database: Database,
  id: string,
  name: string | undefined,
  user: UserContext,
): Promise<void> {
  const { doc } = await database.catalog.get(id);
  const { [name ?? '']: removed, ...left } = (doc['views'] ?? {}) as JsonObject;
  if (name !== undefined && removed === undefined) throw refuse.missing('missing');
  const empty = name === undefined || Object.keys(left).length === 0;
  await write(database, empty ? tombstone(doc) : { ...doc, views: left }, user);
}

const tombstone = ({ _id, _rev = '' }: Doc): Doc => ({ _id, _rev, _deleted: true });

async function write(database: Database, doc: Doc, user: UserContext): Promise<void> {
  const [result] = await database.write([doc], { user });
  if (result !== undefined && 'error' in result) {
    throw new CouchError(result.status, result.error, result.reason);
  }
}

function readFields(value: unknown): string[] {
  if (!Array.isArray(value) || value.length === 0)
    throw badIndex('`fields` must be a list of names');
  return (value as unknown[]).map((field) => {
    if (typeof field === 'string') return field;
    const [entry, ...more] = isJsonObject(field) ? Object.entries(field) : [];
    if (entry === undefined || more.length > 0 || (entry[1] !== 'asc' && entry[1] !== 'desc')) {
      throw badIndex(`${JSON.stringify(field)} is no field of an index`);
    }
    return entry[0];
  });
}

function readName(value: unknown, what: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || value === '') throw badIndex(`\`${what}\` must be a string`);
  return value;
}

const badIndex = (reason: string): CouchError => new CouchError(400, 'invalid_index_json', reason);
