import { expect, test } from 'vitest';

import { between, chanceFrom, oneOf, shuffled } from '../chaos/chance.js';
import { gateSeed } from '../support/properties.js';
import { createHistory, type History } from './history.js';
import { ownServer, type OwnServer } from './own-server.js';

const WRITERS = 3;
const BATCHES = 25;
const DESIGNS = 4;
/** More than a page of any reader has. */
const IDS = Array.from({ length: 260 }, (_, i) => `doc-${i}`);

type Doc = {
  _id: string;
  _rev?: string;
  n?: number;
  _deleted?: boolean;
  _attachments?: Record<string, { content_type: string; data: string }>;
};
type Row = { id: string; value?: unknown; doc?: Doc | null };

/** The number of each document that was asked for; undefined where there is none. */
type Seen = ReadonlyMap<string, number | undefined>;

/** Asks in one way for documents. */
type Reader = (server: OwnServer, chance: () => number) => Promise<Seen>;

/** Every request that reads documents in more than one step. */
const readers: Readonly<Record<string, Reader>> = {
  'a view': async (server, chance) => {
    const path = `/db/_design/d${between(1, DESIGNS, chance)}/_view/all`;
    return emitted((await server.request('GET', path)).body);
  },
  'a view that is new': async (server, chance) => {
    const path = `/db/_design/new-${between(1, 1e9, chance)}`;
    await server.request('PUT', path, { views: { all: { map: `${mapAll} // ${path}` } } });
    return emitted((await server.request('GET', `${path}/_view/all`)).body);
  },
  'a view by keys': async (server, chance) => {
    const path = `/db/_design/d${between(1, DESIGNS, chance)}/_view/thirds`;
    return emitted(
      (await server.request('POST', path, { keys: shuffled([0, 1, 2], chance) })).body,
    );
  },
  _all_docs: async (server) => {
    const { body } = await server.request('GET', '/db/_all_docs?include_docs=true');
    return listed((body['rows'] as Row[]).map(shown));
  },
  _changes: async (server) => {
    const { body } = await server.request('GET', '/db/_changes?include_docs=true');
    // A document that changes while the feed is read comes again: its last row counts.
    return listed([...new Map((body['results'] as Row[]).map(shown))]);
  },
  '_changes, newest first': async (server) => {
    const { body } = await server.request('GET', '/db/_changes?include_docs=true&descending=true');
    return listed((body['results'] as Row[]).map(shown));
  },
  _find: async (server) => {
    const query = { selector: { _id: { $gt: null } }, limit: IDS.length * 2 };
    return found((await server.request('POST', '/db/_find', query)).body);
  },
  '_find by an index': async (server) => {
    const query = { selector: { n: { $gt: 0 } }, limit: IDS.length * 2, use_index: 'by-n' };
    return found((await server.request('POST', '/db/_find', query)).body);
  },
  'all leaves of a document': (server, chance) =>
    each(IDS, chance, async (id) => {
      const { status, body } = await server.request('GET', `/db/${id}?open_revs=all`);
      if (status === 404) return undefined;
      const leaves = body as unknown as { ok?: Doc }[];
      expect(leaves.filter(({ ok }) => ok === undefined)).toEqual([]);
      return leaves.find(({ ok }) => ok?._deleted !== true)?.ok?.n;
    }),
  'a document with its attachments': (server, chance) =>
    each(IDS.filter(isAttached), chance, async (id) => {
      const { body } = await server.request('GET', `/db/${id}?attachments=true&local_seq=true`);
      const { n, _attachments: files } = body as Partial<Doc>;
      expect(files?.['n']?.data).toBe(n === undefined ? undefined : base64(n));
      return n;
    }),
  'an attachment': ({ url, authorization }, chance) =>
    each(IDS.filter(isAttached), chance, async (id) => {
      const answer = await fetch(`${url}/db/${id}/n`, { headers: { authorization } });
      const text = await answer.text();
      return answer.status === 404 ? undefined : Number(text);
    }),
};

const mapAll = 'function (doc) { emit(doc._id, doc.n); }';

const shown = ({ doc, id }: Row): [string, number | undefined] => [id, doc?.n];

const emitted = ({ rows }: Record<string, unknown>): Seen =>
  listed((rows as Row[]).map(({ id, value }) => [id, value as number]));

const found = ({ docs }: Record<string, unknown>): Seen =>
  listed((docs as Doc[]).map(({ _id, n }) => [_id, n]));

/** What a list shows that is of all documents: each once. */
function listed(rows: readonly (readonly [id: string, n: number | undefined])[]): Seen {
  const seen = new Map(rows);
  expect(seen.size).toBe(rows.length);
  return new Map(IDS.map((id) => [id, seen.get(id)]));
}

/** Reads some of these documents one by one. */
async function each(
  ids: readonly string[],
  chance: () => number,
  read: (id: string) => Promise<number | undefined>,
): Promise<Seen> {
  const some = shuffled(ids, chance).slice(0, 20);
  return new Map(await Promise.all(some.map(async (id) => [id, await read(id)] as const)));
}

/** Some documents have their number in an attachment too. */
const isAttached = (id: string): boolean => id.endsWith('0');
const base64 = (n: number): string => Buffer.from(String(n)).toString('base64');

/** Stores, updates and deletes documents of its own in batches, and adds branches that lose. */
async function write(
  server: OwnServer,
  history: History,
  writer: number,
  chance: () => number,
): Promise<void> {
  const revs = new Map<string, string>();
  const live = new Set<string>();
  const ids = IDS.filter((_, i) => i % WRITERS === writer);
  for (let batch = 1; batch <= BATCHES; batch += 1) {
    const docs = shuffled(ids, chance)
      .slice(0, between(1, 40, chance))
      .map((id, i): Doc => {
        const rev = live.has(id) ? revs.get(id) : undefined;
        const base: Doc = rev === undefined ? { _id: id } : { _id: id, _rev: rev };
        if (rev !== undefined && chance() < 0.2) return { ...base, _deleted: true };
        const n = batch * 1_000 + i;
        if (!isAttached(id)) return { ...base, n };
        return { ...base, n, _attachments: { n: { content_type: 'text/plain', data: base64(n) } } };
      });
    const stored = docs.map((doc) => history.write(doc._id, doc.n));
    const { body } = await server.request('POST', '/db/_bulk_docs', { docs });
    stored.forEach((tell) => tell());
    for (const [i, { ok, rev }] of (body as unknown as { ok: boolean; rev: string }[]).entries()) {
      const doc = docs[i];
      if (doc === undefined) continue;
      expect(ok).toBe(true);
      revs.set(doc._id, rev);
      if (doc._deleted === true) live.delete(doc._id);
      else live.add(doc._id);
    }
    if (chance() < 0.3) await branch(server, oneOf(ids, chance), chance);
  }
}

/** A deleted branch never wins: what is shown stays as it is, and yet the document has changed. */
async function branch(server: OwnServer, id: string, chance: () => number): Promise<void> {
  const hash = between(0, 1e9, chance).toString(16);
  const _revisions = { start: 1, ids: [hash] };
  const docs = [{ _id: id, _rev: `1-${hash}`, _deleted: true, _revisions }];
  await server.request('POST', '/db/_bulk_docs', { docs, new_edits: false });
}

async function openDatabase(): Promise<OwnServer> {
  const server = await ownServer();
  await server.request('PUT', '/db');
  const views = {
    all: { map: mapAll },
    thirds: { map: 'function (doc) { emit(doc.n % 3, doc.n); }' },
  };
  for (let n = 1; n <= DESIGNS; n += 1) {
    // Each signature has an index of its own, which is behind until it is asked for.
    const more = { [`own-${n}`]: { map: 'function () {}' } };
    await server.request('PUT', `/db/_design/d${n}`, { views: { ...views, ...more } });
  }
  const index = { index: { fields: ['n'] }, ddoc: 'by-n', name: 'by-n' };
  await server.request('POST', '/db/_index', index);
  return server;
}

test.each(Object.keys(readers))(
  'shows documents in %s as they were at some time while it was read',
  async (name) => {
    const chance = chanceFrom(gateSeed);
    const server = await openDatabase();
    const history = createHistory();
    let writing = true;
    const writers = Array.from({ length: WRITERS }, (_, i) => write(server, history, i, chance));
    const written = Promise.all(writers).finally(() => (writing = false));
    const read = async (): Promise<void> => {
      while (writing) {
        const from = history.now();
        const seen = await readers[name]?.(server, chance);
        expect(history.faults(seen ?? new Map(), from, history.now())).toEqual([]);
      }
    };
    await Promise.all([read(), read(), read(), written]);
    expect(await server.request('GET', '/_up')).toMatchObject({ status: 200 });
  },
);
