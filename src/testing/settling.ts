import { pendingCalculations } from '../plugin/calculations.js';
import type { AttemptMeter } from '../engine/meters.js';
import type { Change } from '../store/change.js';
import type { Store } from '../store/store.js';

/** What engines of a test have under way: while there is any of it, no time passes. */
export type UnderWay = {
  /** The same store, whose requests and changes are waited for. */
  readonly watched: (store: Store, onWrite: (id: string) => void) => Store;
  /** Meters a call of a plugin. */
  readonly meter: () => AttemptMeter;
  /** A call that sleeps by the clock of the test keeps no time from passing. */
  readonly asleep: <T>(sleep: () => Promise<T>) => Promise<T>;
  /** Resolves when nothing is under way. */
  readonly settled: () => Promise<void>;
};

/** So many turns of the event loop nothing is under way before everything has settled. */
const quietTurns = 6;
/** After so many turns of waiting for something outside of this thread it is looked for less often. */
const mostTurns = 100;

/** @param patienceMs so long a call of a plugin may take, ms of real time; then time passes meanwhile */
export function createWork(patienceMs: number): UnderWay {
  const calls = new Map<symbol, number>();
  let sleeping = 0;
  let requests = 0;
  const feeds = new Set<Feed>();
  const isBusy = (): boolean => {
    if (requests > 0 || pendingCalculations() > 0) return true;
    if ([...feeds].some(({ expected }) => expected.size > 0)) return true;
    const from = performance.now() - patienceMs;
    return [...calls.values()].filter((begun) => begun > from).length > sleeping;
  };
  const asked = async <T>(ask: () => Promise<T>): Promise<T> => {
    requests += 1;
    try {
      return await ask();
    } finally {
      requests -= 1;
    }
  };
  return {
    watched: (store, onWrite) => watch(store, { asked, feeds, onWrite }),
    meter: () => {
      const call = Symbol('call');
      calls.set(call, performance.now());
      return { run: (run) => run(), end: () => void calls.delete(call) };
    },
    asleep: async (sleep) => {
      sleeping += 1;
      try {
        return await sleep();
      } finally {
        sleeping -= 1;
      }
    },
    settled: async () => {
      for (let quiet = 0, turns = 0; quiet < quietTurns; turns += 1) {
        await (turns < mostTurns ? turn() : rest());
        quiet = isBusy() ? 0 : quiet + 1;
      }
    },
  };
}

const turn = (): Promise<void> => new Promise((next) => setImmediate(next));
const rest = (): Promise<void> => new Promise((next) => setTimeout(next, 1));

/**
 * A feed that somebody reads; `expected`: the generations of documents that were written and of which it has not told
 * yet. `told`: those of which it has told, which may be before the answer to the write comes.
 */
type Feed = { readonly expected: Map<string, number>; readonly told: Map<string, number> };

type Watch = {
  readonly asked: <T>(ask: () => Promise<T>) => Promise<T>;
  readonly feeds: Set<Feed>;
  readonly onWrite: (id: string) => void;
};

const generation = (rev: string): number => Number.parseInt(rev, 10);

function watch(store: Store, { asked, feeds, onWrite }: Watch): Store {
  const write: Store['write'] = (doc, mostBytes) =>
    asked(async () => {
      const result = await store.write(doc, mostBytes);
      if (result.kind !== 'written') return result;
      const written = generation(result.rev);
      for (const { expected, told } of feeds) {
        if (written <= (told.get(doc._id) ?? 0)) continue;
        expected.set(doc._id, Math.max(written, expected.get(doc._id) ?? 0));
      }
      onWrite(doc._id);
      return result;
    });
  return {
    ...store,
    info: () => asked(() => store.info()),
    get: (id) => asked(() => store.get(id)),
    isDeleted: (id) => asked(() => store.isDeleted(id)),
    leaves: (id, copies) => asked(() => store.leaves(id, copies)),
    getMany: (ids, options) => asked(() => store.getMany(ids, options)),
    range: (prefix) => asked(() => store.range(prefix)),
    exceeds: (prefix, most) => asked(() => store.exceeds(prefix, most)),
    attachment: (id, name, of) => asked(() => store.attachment(id, name, of)),
    documentLimit: () => asked(() => store.documentLimit()),
    view: (name, query) => asked(() => store.view(name, query)),
    rows: async function* (name, query, signal) {
      yield* counted(store.rows(name, query, signal), asked);
    },
    rangePages: async function* (prefix, from) {
      yield* counted(store.rangePages(prefix, from), asked);
    },
    write,
    remove: (_id, _rev) => write({ _id, _rev, _deleted: true }),
    follow: (options) => followed(store.follow(options), feeds),
  };
}

async function* counted<T>(all: AsyncIterable<T>, asked: Watch['asked']): AsyncGenerator<T> {
  const iterator = all[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await asked(() => iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

async function* followed(changes: AsyncIterable<Change>, feeds: Set<Feed>): AsyncGenerator<Change> {
  const feed: Feed = { expected: new Map(), told: new Map() };
  feeds.add(feed);
  try {
    for await (const change of changes) {
      yield change;
      const told = Math.max(...change.revs.map(generation));
      feed.told.set(change.id, told);
      if (told >= (feed.expected.get(change.id) ?? 0)) feed.expected.delete(change.id);
    }
  } finally {
    feeds.delete(feed);
  }
}
