import type { StoredDocument } from '../../src/model/parse.js';
import type { Store } from '../../src/store/store.js';
import { moment } from './witness.js';

/** What can be seen of a run from outside, by the feed. */
export type Watch = {
  /** Jobs that were seen final. */
  readonly final: ReadonlySet<string>;
  /** When the document of an engine was seen to move, by pid. */
  readonly beats: ReadonlyMap<number, readonly number[]>;
  /** When a job was last seen to move. */
  readonly movedAt: () => number;
  readonly stop: () => Promise<void>;
};

/** Follows the database, straight and from its beginning, until it is stopped. */
export function watch(store: Store): Watch {
  const abort = new AbortController();
  const final = new Set<string>();
  const beats = new Map<number, number[]>();
  let movedAt = moment();
  const see = (doc: StoredDocument): void => {
    const { type, state, pid } = doc;
    if (type === 'job') {
      movedAt = moment();
      if (state === '$$complete' || state === '$$cancelled') final.add(doc._id);
    }
    if (type === 'engine' && typeof pid === 'number') {
      beats.set(pid, [...(beats.get(pid) ?? []), moment()]);
    }
  };
  const following = (async () => {
    const backoff = { firstMs: 100, maxMs: 500 };
    for await (const { doc } of store.follow({ since: '0', signal: abort.signal, backoff })) {
      if (doc !== undefined) see(doc);
    }
  })();
  return {
    final,
    beats,
    movedAt: () => movedAt,
    stop: async () => {
      abort.abort();
      await following;
    },
  };
}
