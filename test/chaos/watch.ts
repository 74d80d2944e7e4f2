import type { StoredDocument } from '../../src/model/document.js';
import type { Store } from '../../src/store/store.js';
import { isSubmitted } from './flows.js';
import { moment } from './witness.js';

/** What can be seen of a run from outside, by the feed. */
export type Watch = {
  /** Submitted jobs that were seen final. */
  readonly final: ReadonlySet<string>;
  /** Jobs of all kinds that were seen, and not final. */
  readonly open: ReadonlySet<string>;
  /** When the document of an engine was seen to move, by pid. */
  readonly beats: ReadonlyMap<number, readonly number[]>;
  /** Pids of engines that have a step in hand which lost two engines before: the third is too many. */
  readonly fragile: () => ReadonlySet<number>;
  /** When a job was last seen to move. */
  readonly movedAt: () => number;
  readonly stop: () => Promise<void>;
};

/** Follows the database, straight and from its beginning, until it is stopped. */
export function watch(store: Store): Watch {
  const abort = new AbortController();
  const final = new Set<string>();
  const open = new Set<string>();
  const beats = new Map<number, number[]>();
  const fragile = new Map<string, number>();
  let movedAt = moment();
  const see = (doc: StoredDocument): void => {
    const { type, state, pid } = doc;
    if (type === 'job') {
      movedAt = moment();
      const holder = fragileHolder(doc);
      if (holder === undefined) fragile.delete(doc._id);
      else fragile.set(doc._id, holder);
      const isFinal = state === '$$complete' || state === '$$cancelled';
      if (isFinal) open.delete(doc._id);
      else open.add(doc._id);
      if (isFinal && isSubmitted(doc._id)) final.add(doc._id);
    }
    if (type === 'engine' && typeof pid === 'number') {
      beats.set(pid, [...(beats.get(pid) ?? []), moment()]);
    }
  };
  const following = (async () => {
    const backoff = { firstMs: 100, maxMs: 500, refusedMs: 1_000 };
    for await (const { doc } of store.follow({ since: '0', signal: abort.signal, backoff })) {
      if (doc !== undefined) see(doc);
    }
  })();
  return {
    final,
    open,
    beats,
    fragile: () => new Set(fragile.values()),
    movedAt: () => movedAt,
    stop: async () => {
      abort.abort();
      await following;
    },
  };
}

type Step = { readonly path: string; readonly state: string; readonly exit?: number };

/** The pid of the engine that has the third attempt of a step in hand, after two were lost. */
function fragileHolder({ steps }: StoredDocument): number | undefined {
  const list = (steps ?? []) as readonly (Step & { readonly pid: number })[];
  const live = list.find(({ state }) => state === '$$active');
  const lost = list.filter(({ path, exit }) => path === live?.path && exit === 4);
  return lost.length < 2 ? undefined : live?.pid;
}
