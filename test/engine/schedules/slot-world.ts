import { createLogOnce } from '../../../src/engine/log.js';
import { createSerializer } from '../../../src/engine/loop/serializer.js';
import type { FollowParts } from '../../../src/engine/loop/followed-parts.js';
import type { Schedules } from '../../../src/engine/schedules/schedules.js';
import type { Followed } from '../../../src/engine/loop/followed.js';
import { idHash } from '../../../src/decide/compete/ranks.js';
import type { Peer } from '../../../src/decide/world.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { keyOf, ownerOf } from '../../../src/model/task.js';
import { winnerFirst } from '../../../src/replicas/resolve/leaf-revisions.js';
import type { WriteResult } from '../../../src/store/batch.js';

/** A database of some nodes, each with its own leaf revisions of every document. */
export type Cluster = {
  readonly nodes: readonly Map<string, Map<string, StoredDocument>>[];
  /** All nodes learn what the others have. */
  readonly sync: () => void;
  readonly write: (doc: Partial<StoredDocument> & { readonly _id: string }) => WriteResult;
  /** The winner as all nodes together know it. */
  readonly get: (id: string, node?: number) => StoredDocument | undefined;
  readonly leaves: (id: string) => readonly StoredDocument[];
  readonly ids: () => readonly string[];
};

/**
 * `reach`: which nodes a write comes to before the others learn of it, in their order. With one node a
 * conflict is exact; with three a write may be taken by a part of them only, which answers 202.
 */
export function createCluster(count: number, reach: () => readonly number[]): Cluster {
  const nodes = Array.from({ length: count }, () => new Map<string, Map<string, StoredDocument>>());
  const gone = new Set<string>();
  /** The last revision number of each document that was removed: one that is stored anew goes on from there. */
  const removed = new Map<string, number>();
  const keyOf = (id: string, rev: string): string => `${id} ${rev}`;
  let writes = 0;
  const leavesAt = (node: number, id: string) => [...(nodes[node]?.get(id)?.values() ?? [])];
  const put = (node: number, before: string | undefined, doc: StoredDocument): boolean => {
    const at = nodes[node]?.get(doc._id) ?? new Map<string, StoredDocument>();
    if (before === undefined ? at.size > 0 : !at.has(before)) return false;
    if (before !== undefined) at.delete(before);
    if (doc['_deleted'] !== true) at.set(doc._rev, doc);
    nodes[node]?.set(doc._id, at);
    return true;
  };
  const sync = (): void => {
    const all = new Map<string, Map<string, StoredDocument>>();
    for (const node of nodes) {
      for (const [id, leaves] of node) {
        const known = all.get(id) ?? new Map<string, StoredDocument>();
        for (const [rev, doc] of leaves) if (!gone.has(keyOf(id, rev))) known.set(rev, doc);
        all.set(id, known);
      }
    }
    for (const node of nodes) {
      node.clear();
      for (const [id, leaves] of all) node.set(id, new Map(leaves));
    }
  };
  const write: Cluster['write'] = (given) => {
    writes += 1;
    const before = given._rev;
    const last = before === undefined ? removed.get(given._id) : Number.parseInt(before, 10);
    const number = (last ?? 0) + 1;
    // A new document of the same content has the same revision, as in CouchDB.
    const rev =
      before === undefined
        ? `${number}-${idHash(JSON.stringify(given)).toString(16)}`
        : `${number}-${String(writes).padStart(6, '0')}`;
    const doc = { ...given, _rev: rev } as StoredDocument;
    const reached = reach();
    const took = reached.filter((node) => put(node, before, doc));
    if (took.length === 0) return { kind: 'conflict' };
    if (before !== undefined) gone.add(keyOf(given._id, before));
    if (given['_deleted'] === true) {
      gone.add(keyOf(given._id, rev));
      removed.set(given._id, Math.max(number, removed.get(given._id) ?? 0));
    }
    const isMost = took.length > count / 2;
    return isMost ? { kind: 'written', rev } : { kind: 'unknown', cause: '202' };
  };
  const merged = (id: string): readonly StoredDocument[] => {
    const found = new Map<string, StoredDocument>();
    for (let node = 0; node < count; node += 1) {
      for (const doc of leavesAt(node, id)) {
        if (!gone.has(keyOf(id, doc._rev))) found.set(doc._rev, doc);
      }
    }
    return winnerFirst([...found.values()]);
  };
  const get: Cluster['get'] = (id, node) =>
    node === undefined ? merged(id)[0] : winnerFirst(leavesAt(node, id))[0];
  const ids = (): readonly string[] => [...new Set(nodes.flatMap((node) => [...node.keys()]))];
  return { nodes, sync, write, get, leaves: merged, ids };
}

/** Something that an engine has asked for, or that is to reach it, and has not happened yet. */
export type Pending = { readonly of: string; readonly happen: () => void };

/** An engine that takes part until it is killed. */
export type SimulatedEngine<F extends Followed = Schedules> = {
  readonly id: string;
  readonly schedules: F;
  readonly kill: () => void;
};

type Ports = {
  readonly cluster: Cluster;
  /** Puts off what an engine asks for until the simulation lets it happen. */
  readonly later: (of: string, happen: () => void) => void;
  readonly now: () => number;
  readonly wait: FollowParts['clock']['after'];
  readonly alive: () => readonly Peer[];
  /** Called for each document that an engine has stored. */
  readonly onWrite: (doc: { readonly _id: string }, result: WriteResult) => void;
  readonly pick: (most: number) => number;
};

/** Starts a part of one engine that follows documents of one type. */
export function startPart<F extends Followed>(
  id: string,
  ports: Ports,
  create: (parts: FollowParts) => F,
): SimulatedEngine<F> {
  const { cluster, later, now, wait, alive, onWrite, pick } = ports;
  const [life, ending] = [new AbortController(), new AbortController()];
  const self = peerOf(id);
  const ask = <T>(what: () => T): Promise<T> =>
    new Promise((resolve) => later(id, () => resolve(what())));
  const anyNode = (): number => pick(cluster.nodes.length);
  const store = {
    get: (doc: string) => ask(() => cluster.get(doc, anyNode())),
    getMany: (docs: readonly string[]) =>
      ask(
        () =>
          new Map(
            docs.flatMap((doc) => {
              const found = cluster.get(doc, anyNode());
              return found === undefined ? [] : [[doc, found] as const];
            }),
          ),
      ),
    leaves: (doc: string) => ask(() => cluster.leaves(doc)),
    view: (
      name: string,
      { key = [], keys }: { readonly key?: readonly string[]; readonly keys?: readonly string[] },
    ) =>
      ask(() =>
        cluster.ids().flatMap((one) => {
          const doc = cluster.get(one);
          const called = doc === undefined ? '' : keyOf(String(doc['name']), ownerOf(doc));
          if (name === 'flows') {
            const isOne = doc?.['type'] === 'flow' && keys?.includes(called) === true;
            return isOne ? [{ id: one, key: called, doc }] : [];
          }
          const { event } = (doc?.['on'] ?? {}) as { readonly event?: string };
          return event === key[1] ? [{ id: one, doc }] : [];
        }),
      ),
    rows: async function* (_name: string) {
      const rows = await ask(() => waitingRows(cluster));
      for (const row of rows) yield row;
    },
    rangePages: async function* (prefix: string) {
      const docs = await ask(() =>
        cluster.ids().flatMap((one) => (one.startsWith(prefix) ? (cluster.get(one) ?? []) : [])),
      );
      for (const doc of docs) yield doc;
    },
    write: (doc: StoredDocument) =>
      ask(() => {
        const result = cluster.write(doc);
        onWrite(doc, result);
        return result;
      }),
    remove: (doc: string, rev: string) =>
      ask(() => cluster.write({ _id: doc, _rev: rev, _deleted: true })),
  };
  const quiet = () => undefined;
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const count = cluster.nodes.length;
  const parts = {
    ...{ store, log, now, life, ending, self, clock: { after: wait }, readDocument: store.get },
    serializer: createSerializer((_doc, error) => {
      throw error instanceof Error ? error : new Error(String(error));
    }, now),
    retry: async (of: () => Promise<unknown>) => {
      for (;;) {
        try {
          return await of();
        } catch (error) {
          if (!(error instanceof Error) || error.message !== '202') throw error;
        }
      }
    },
    documentLimit: { bytes: Infinity },
    horizonMs: () => 60_000,
    once: createLogOnce(log),
    peers: {
      get alive() {
        return alive().filter((peer) => peer.id !== id);
      },
    },
    replicas: { many: count > 1, count },
  };
  const schedules = create(parts as unknown as FollowParts);
  return {
    id,
    schedules,
    kill: () => {
      life.abort();
      ending.abort();
      schedules.stop();
    },
  };
}

/** Rows of the view `triggers`: events that wait in a gathering. */
function waitingRows(cluster: Cluster) {
  return cluster.ids().flatMap((id) => {
    const triggered = cluster.get(id)?.['triggered'];
    const { gathered = [] } = (triggered ?? {}) as { readonly gathered?: { into: string }[] };
    return gathered.map(({ into }) => ({ id, key: ['gathered', into] }));
  });
}

/** An engine as others see it. */
export function peerOf(id: string): Peer {
  return { id, plugins: new Set(), labels: new Set(), queues: new Set() };
}
